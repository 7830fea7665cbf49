//! Numbered blocks of symbolic buffers: what a schedule moves.

use std::fmt;
use std::ops::Range;

/// A symbolic buffer of one rank. The execution of a schedule decides which memory it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Buffer {
    /// The caller's input; never written. A schedule made for an in-place call has none.
    Send,
    /// The caller's output; with in-place calls and broadcasts the input as well.
    Recv,
    /// Temporary memory. Its block `j` has the size of block `j % blocks`, where `blocks` is what the
    /// schedule cuts a vector into; so `blocks` consecutive scratch blocks hold a copy of a whole vector.
    Scratch,
    /// The slots of a rank. Only this rank writes them; all ranks of its node can read them. A slot holds any
    /// one block, and has the size of the block that was written last.
    Shared(u32),
}

impl Buffer {
    /// The buffers that other ranks do not see, in the order of their declaration.
    pub const PRIVATE: [Buffer; 3] = [Buffer::Send, Buffer::Recv, Buffer::Scratch];

    /// The slots of a rank.
    pub fn of_rank(rank: usize) -> Buffer {
        Buffer::Shared(rank as u32)
    }

    /// Returns its position in [`Buffer::PRIVATE`]; `None` for slots.
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
    pub buffer: Buffer,
    pub first: u32,
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

    /// Returns `times` runs like this one; each starts `stride` blocks after the start of the one before.
    pub fn repeated(self, times: usize, stride: usize) -> Strided {
        match (times as u32, stride as i32) {
            (0, _) => Run { count: 0, ..self }.into(),
            (1, _) => self.into(),
            (times, stride) if stride == self.count as i32 => {
                Run { count: self.count * times, ..self }.into()
            }
            (times, stride) => Strided { first: self, times, stride },
        }
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

/// Runs of equal length that lie equally far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strided {
    first: Run,
    times: u32,
    /// Blocks from the start of each run to that of the next; negative where they descend, 0 for a single
    /// run.
    stride: i32,
}

impl Strided {
    pub fn times(self) -> u32 {
        self.times
    }

    /// Blocks from the start of each run to that of the next; negative where they descend.
    pub fn stride(self) -> isize {
        self.stride as isize
    }

    /// Returns the run of this number, counted from 0.
    pub fn run(self, number: u32) -> Run {
        let first = i64::from(self.first.first) + i64::from(number) * i64::from(self.stride);
        Run { first: first as u32, ..self.first }
    }

    /// The runs, in order.
    pub fn runs(self) -> impl ExactSizeIterator<Item = Run> + Clone {
        (0..self.times).map(move |number| self.run(number))
    }

    /// Returns how many blocks the runs have together.
    pub fn blocks(self) -> usize {
        self.first.count as usize * self.times as usize
    }

    pub fn buffer(self) -> Buffer {
        self.first.buffer
    }

    /// One more than the highest block number.
    pub fn end(self) -> usize {
        [0, self.times.saturating_sub(1)]
            .map(|number| self.run(number).indices().end)
            .into_iter()
            .max()
            .unwrap_or(0)
    }

    /// Appends a run, if it follows at the same distance as the others. Returns whether it does.
    fn take(&mut self, run: Run) -> bool {
        let last = self.run(self.times - 1);
        let is_alike = (run.buffer, run.count) == (last.buffer, last.count);
        let stride = i32::try_from(i64::from(run.first) - i64::from(last.first));
        match stride {
            Ok(stride) if is_alike && (self.times == 1 || stride == self.stride) => {
                (self.times, self.stride) = (self.times + 1, stride);
                true
            }
            _ => false,
        }
    }
}

impl From<Run> for Strided {
    fn from(first: Run) -> Self {
        Strided { first, times: 1, stride: 0 }
    }
}

/// The blocks of one message in the order in which they travel. Adjacent blocks form runs, and runs at equal
/// distances are stored together: a message of a million blocks with a pattern takes a few bytes. Equal
/// messages have equal forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Message(Box<[Strided]>);

impl Message {
    /// Returns the message of these runs; adjacent runs stay separate.
    pub(super) fn of_separate(runs: impl IntoIterator<Item = Run>) -> Message {
        let mut joined = Joined::default();
        runs.into_iter().for_each(|run| joined.push_whole(run));
        joined.message()
    }

    /// Replaces each run by another one; adjacent runs stay separate.
    pub(super) fn move_runs(&mut self, moved: impl FnMut(Run) -> Run) {
        match &mut self.0[..] {
            [Strided { first, times: 1, .. }] => *first = { moved }(*first),
            _ => *self = Message::of_separate(self.runs().map(moved)),
        }
    }

    /// The runs, in order; none is empty.
    pub fn runs(&self) -> impl Iterator<Item = Run> + Clone {
        self.0.iter().flat_map(|strided| strided.runs())
    }

    /// Returns the runs, those at equal distances together.
    pub fn strided(&self) -> &[Strided] {
        &self.0
    }

    /// Returns its run, if it has only one.
    pub fn single(&self) -> Option<Run> {
        match self.0[..] {
            [Strided { first, times: 1, .. }] => Some(first),
            _ => None,
        }
    }

    /// How many blocks travel.
    pub fn blocks(&self) -> usize {
        self.0.iter().map(|strided| strided.blocks()).sum()
    }
}

/// The runs of a message so far, while they are joined.
#[derive(Default)]
struct Joined {
    strided: Vec<Strided>,
    /// The last run, which may still grow.
    last: Option<Run>,
}

impl Joined {
    /// Has the same effect as [`Joined::push`] of its runs one by one.
    fn push_strided(&mut self, strided: Strided) {
        // By then three of its runs have ended, whatever was before. The others follow at equal distances.
        const DECISIVE: u32 = 4;
        let touch = strided.stride == strided.first.count as i32;
        let one_by_one = if touch { strided.times } else { strided.times.min(DECISIVE) };
        (0..one_by_one).for_each(|number| self.push(strided.run(number)));
        if let (Some(before), more @ 1..) = (self.strided.last_mut(), strided.times - one_by_one) {
            before.times += more;
            self.last = Some(strided.run(strided.times - 1));
        }
    }

    fn push(&mut self, run: Run) {
        match &mut self.last {
            _ if run.count == 0 => {}
            Some(last) if run.continues(*last) => last.count += run.count,
            last => {
                let whole = last.replace(run);
                whole.into_iter().for_each(|whole| self.push_whole(whole));
            }
        }
    }

    fn push_whole(&mut self, run: Run) {
        let is_taken = self.strided.last_mut().is_some_and(|last| last.take(run));
        if !is_taken {
            self.strided.push(run.into());
        }
    }

    fn message(mut self) -> Message {
        match self.last.take() {
            Some(only) if self.strided.is_empty() => Message::from(only),
            last => {
                last.into_iter().for_each(|last| self.push_whole(last));
                Message(self.strided.into_boxed_slice())
            }
        }
    }
}

impl<Runs: Into<Strided>> FromIterator<Runs> for Message {
    fn from_iter<I: IntoIterator<Item = Runs>>(runs: I) -> Self {
        let mut joined = Joined::default();
        runs.into_iter().for_each(|runs| joined.push_strided(runs.into()));
        joined.message()
    }
}

impl From<Run> for Message {
    fn from(run: Run) -> Self {
        Message(if run.count == 0 { Box::default() } else { Box::new([run.into()]) })
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        for (position, run) in self.runs().enumerate() {
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
        assert_eq!(message.runs().count(), 2);
    }

    #[test]
    fn runs_that_lie_equally_far_apart_are_kept_together() {
        let ascending: Message = (0..1000).map(|block| Buffer::Send.block(3 * block)).collect();
        let descending: Message = (0..1000).rev().map(|block| Buffer::Send.block(3 * block)).collect();
        for message in [&ascending, &descending] {
            assert_eq!(message.strided().len(), 1);
            assert_eq!((message.blocks(), message.strided()[0].end()), (1000, 2998));
        }
        assert!(ascending.runs().eq((0..1000).map(|block| Buffer::Send.block(3 * block))));
        assert_eq!(descending.runs().last(), Some(Buffer::Send.block(0)));
        assert_eq!(ascending, [Buffer::Send.block(0).repeated(1000, 3)].into_iter().collect());
    }

    #[test]
    fn messages_of_the_same_runs_are_equal_however_they_are_made() {
        let mut random = crate::random::Random(7);
        for _ in 0..10_000 {
            let mut any = |below: usize| random.below(below);
            let mut strided = || {
                let run = Buffer::PRIVATE[any(2)].blocks(0..1 + any(2));
                let run = Run { first: any(8) as u32, ..run };
                run.repeated(any(7), any(4))
            };
            let parts: Vec<Strided> = (0..4).map(|_| strided()).collect();
            let runs = || parts.iter().flat_map(|part| part.runs());
            let [at_once, one_by_one]: [Message; 2] = [parts.iter().copied().collect(), runs().collect()];
            assert_eq!(at_once, one_by_one, "{parts:?}");
            let expected = runs()
                .filter(|run| run.count > 0)
                .flat_map(|run| run.indices().map(move |block| run.buffer.block(block)));
            let found =
                at_once.runs().flat_map(|run| run.indices().map(move |block| run.buffer.block(block)));
            assert!(found.eq(expected), "{parts:?}");
            let kept_apart = Message::of_separate(at_once.runs());
            assert_eq!(kept_apart, at_once);
        }
    }

    #[test]
    fn overlap_needs_a_common_block() {
        assert!(Buffer::Recv.blocks(0..3).overlaps(Buffer::Recv.blocks(2..4)));
        assert!(!Buffer::Recv.blocks(0..2).overlaps(Buffer::Recv.blocks(2..4)));
        assert!(!Buffer::Recv.blocks(0..3).overlaps(Buffer::Send.blocks(0..3)));
    }
}
