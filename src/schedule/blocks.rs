//! Numbered blocks of symbolic buffers: what a schedule moves.

use std::fmt;
use std::ops::Range;

/// A symbolic buffer of one rank. Which memory stands behind it is decided when a schedule is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Buffer {
    /// The caller's input; never written. A schedule made for an in-place call has none.
    Send,
    /// The caller's output; with in-place calls and broadcasts the input as well.
    Recv,
    /// Temporary memory. Its block `j` has the size of block `j % blocks`, where `blocks` is what the
    /// schedule cuts a vector into; so `blocks` consecutive scratch blocks hold a copy of a whole vector.
    Scratch,
    /// The slots of a rank, which it alone writes and all ranks of its node can read. A slot holds any one block, and
    /// has the size of the one that was written last.
    Shared(u32),
}

impl Buffer {
    /// The buffers that other ranks do not see, in the order of their declaration.
    pub const PRIVATE: [Buffer; 3] = [Buffer::Send, Buffer::Recv, Buffer::Scratch];

    /// The slots of a rank.
    pub fn of_rank(rank: usize) -> Buffer {
        Buffer::Shared(rank as u32)
    }

    /// Its place among those that other ranks do not see; `None` for slots.
    pub fn private(self) -> Option<usize> {
        Buffer::PRIVATE.iter().position(|&private| private == self)
    }

    /// The run of one block.
    pub fn block(self, index: usize) -> Run {
        self.blocks(index..index + 1)
    }

    /// The run of several consecutive blocks.
    pub fn blocks(self, range: Range<usize>) -> Run {
        Run { buffer: self, first: range.start as u32, count: (range.end - range.start) as u32 }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Buffer::Send => formatter.write_str("send"),
            Buffer::Recv => formatter.write_str("recv"),
            Buffer::Scratch => formatter.write_str("scratch"),
            Buffer::Shared(rank) => write!(formatter, "shared{rank}"),
        }
    }
}

/// `count` consecutive blocks of a buffer, from block `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// The buffer.
    pub buffer: Buffer,
    /// Number of the first block.
    pub first: u32,
    /// How many blocks.
    pub count: u32,
}

impl Run {
    /// The block numbers of this run.
    pub fn indices(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// The same block numbers in another buffer.
    pub fn in_buffer(self, buffer: Buffer) -> Run {
        Run { buffer, ..self }
    }

    /// Whether the two runs have a block in common.
    pub fn overlaps(self, other: Run) -> bool {
        self.buffer == other.buffer
            && self.first < other.first + other.count
            && other.first < self.first + self.count
    }

    /// Whether the run starts where the other ends.
    pub fn continues(self, previous: Run) -> bool {
        self.buffer == previous.buffer && previous.first + previous.count == self.first
    }
}

impl fmt::Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if self.count == 1 {
            write!(formatter, "{}[{}]", self.buffer, self.first)
        } else {
            write!(formatter, "{}[{}..{}]", self.buffer, self.first, self.first + self.count)
        }
    }
}

/// The blocks of one message in the order in which they travel, adjacent ones merged into runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Message(Vec<Run>);

impl Message {
    /// The runs, in order; none is empty.
    pub fn runs(&self) -> &[Run] {
        &self.0
    }

    /// The same, to be moved to other blocks.
    pub(super) fn runs_mut(&mut self) -> &mut [Run] {
        &mut self.0
    }

    /// How many blocks travel.
    pub fn blocks(&self) -> usize {
        self.0.iter().map(|run| run.count as usize).sum()
    }
}

impl FromIterator<Run> for Message {
    fn from_iter<I: IntoIterator<Item = Run>>(runs: I) -> Self {
        let mut merged: Vec<Run> = Vec::new();
        for run in runs.into_iter().filter(|run| run.count > 0) {
            match merged.last_mut() {
                Some(last) if run.continues(*last) => last.count += run.count,
                _ => merged.push(run),
            }
        }
        Message(merged)
    }
}

impl From<Run> for Message {
    fn from(run: Run) -> Self {
        [run].into_iter().collect()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        for (position, run) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(formatter, "{separator}{run}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_blocks_become_one_run() {
        let message: Message =
            [Buffer::Send.block(1), Buffer::Send.blocks(2..4), Buffer::Recv.block(4)].into_iter().collect();
        assert_eq!(message.to_string(), "send[1..4], recv[4]");
        assert_eq!(message.blocks(), 4);
    }

    #[test]
    fn descending_blocks_stay_apart() {
        let message: Message = [Buffer::Send.block(2), Buffer::Send.block(1)].into_iter().collect();
        assert_eq!(message.runs().len(), 2);
    }

    #[test]
    fn overlap_needs_a_common_block() {
        assert!(Buffer::Recv.blocks(0..3).overlaps(Buffer::Recv.blocks(2..4)));
        assert!(!Buffer::Recv.blocks(0..2).overlaps(Buffer::Recv.blocks(2..4)));
        assert!(!Buffer::Recv.blocks(0..3).overlaps(Buffer::Send.blocks(0..3)));
    }
}
