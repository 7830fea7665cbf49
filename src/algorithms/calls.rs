//! Algorithms that call other collectives of their communicator (mock-ups).
//!
//! A schedule is a rank's program of messages; [`Calls`] is its program of calls, over the same numbered blocks. If the
//! collective has one vector, `parts` says how the vector is cut. Otherwise there is a block for each rank.

use super::{Algorithm, Collective, Problem};
use std::fmt;
use std::ops::Range;

/// An algorithm made of calls.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    /// How a vector is cut into blocks.
    pub parts: Parts,
    /// Returns a rank's acts in order. All ranks make the same calls in the same order.
    pub acts: fn(&Problem, usize) -> Vec<Act>,
}

/// How the blocks of the calls are cut from the buffers of the collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The collective's own blocks, one for each rank.
    Given,
    /// The vector is one block.
    Whole,
    /// The vector is cut into a block for each rank, all equally long. In the algorithm's own memory (`All`, `Own`) the
    /// last blocks are padded. In the caller's buffers acts can only name the whole vector.
    Padded,
    /// The vector is cut into a block for each rank, whose lengths differ by one element at most.
    Balanced,
    /// The root's block is the vector; the others are empty.
    Root,
}

/// Memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// The caller's input. In an in-place reduce-scatter this is the memory where the result goes.
    Send,
    /// The caller's output. It also holds the input of a broadcast and of in-place calls.
    Recv,
    /// Temporary memory for all blocks: of elements if the collective reduces, otherwise of bytes.
    All,
    /// Temporary memory for the rank's own block, of the same kind as `All`.
    Own,
}

/// Consecutive blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AreaBlocks {
    pub area: Area,
    pub blocks: Range<usize>,
}

impl Area {
    pub fn block(self, number: usize) -> AreaBlocks {
        self.blocks(number..number + 1)
    }

    pub fn blocks(self, blocks: Range<usize>) -> AreaBlocks {
        AreaBlocks { area: self, blocks }
    }
}

/// One act of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Copies as many blocks as both regions have.
    Copy {
        from: AreaBlocks,
        to: AreaBlocks,
    },
    /// Sets all bits to zero.
    Clear(AreaBlocks),
    /// Combines two regions locally with the operator: `to = from ⊕ to`.
    Reduce {
        from: AreaBlocks,
        to: AreaBlocks,
    },
    Call(InnerCall),
}

/// The call of a collective, with as many blocks as the regions have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerCall {
    pub collective: Collective,
    /// The root; 0 if the collective has none.
    pub root: usize,
    /// Whether this rank passes `MPI_IN_PLACE`. The input of a reduce-scatter is `send` nevertheless.
    pub in_place: bool,
    /// Whether a reduction computes the bitwise OR of bytes instead of applying the caller's operator.
    pub unites: bool,
    /// The blocks to send. `None` if the rank sends nothing, or sends from where it receives.
    pub send: Option<AreaBlocks>,
    /// Where the rank receives; `None` if it does not.
    pub recv: Option<AreaBlocks>,
}

impl InnerCall {
    /// Returns a call with root 0 that is not in place and, if it reduces, applies the caller's operator.
    pub fn new(
        collective: Collective,
        send: impl Into<Option<AreaBlocks>>,
        recv: impl Into<Option<AreaBlocks>>,
    ) -> InnerCall {
        InnerCall {
            collective,
            root: 0,
            in_place: false,
            unites: false,
            send: send.into(),
            recv: recv.into(),
        }
    }

    /// Returns the same call with another root.
    pub fn rooted(self, root: usize) -> InnerCall {
        InnerCall { root, ..self }
    }

    /// Returns the same call, in place if `in_place`. Then `send` is `None`, and the input is where the result goes.
    pub fn in_place_if(self, in_place: bool) -> InnerCall {
        let send = self.send.filter(|_| !in_place);
        InnerCall { in_place, send, ..self }
    }

    /// Returns the same call with bitwise OR as operator.
    pub fn uniting(self) -> InnerCall {
        InnerCall { unites: true, ..self }
    }
}

impl From<InnerCall> for Act {
    fn from(call: InnerCall) -> Act {
        Act::Call(call)
    }
}

impl Calls {
    /// Returns the names of the called collectives in order, with `reduce_local` for a reduction within the rank.
    pub fn names(&self) -> Vec<&'static str> {
        let name = |act: Act| match act {
            Act::Call(call) => Some(call.collective.name()),
            Act::Reduce { .. } => Some("reduce_local"),
            Act::Copy { .. } | Act::Clear(_) => None,
        };
        // Rank 1 of two ranks performs every kind of act.
        (self.acts)(&Problem::new(2), 1).into_iter().filter_map(name).collect()
    }
}

impl Algorithm {
    /// Returns a mock-up's performance guideline, such as `allreduce <= reduce + bcast`; `None` for other algorithms.
    pub fn guideline(&self) -> Option<String> {
        self.calls().map(|calls| format!("{} <= {}", self.contract().name(), calls.names().join(" + ")))
    }
}

impl fmt::Display for Area {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Area::Send => "send",
            Area::Recv => "recv",
            Area::All => "all",
            Area::Own => "own",
        })
    }
}

/// Writes a region like the runs of a schedule: `send[3]`, `recv[0..8]`.
impl fmt::Display for AreaBlocks {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let AreaBlocks { area, blocks } = self;
        match blocks.len() {
            1 => write!(formatter, "{area}[{}]", blocks.start),
            _ => write!(formatter, "{area}[{}..{}]", blocks.start, blocks.end),
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Act::Copy { from, to } => write!(formatter, "copy {from} to {to}"),
            Act::Clear(region) => write!(formatter, "clear {region}"),
            Act::Reduce { from, to } => write!(formatter, "reduce {from} into {to}"),
            Act::Call(call) => call.fmt(formatter),
        }
    }
}

impl fmt::Display for InnerCall {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "call {}", self.collective.name())?;
        if self.collective.is_rooted() {
            write!(formatter, ", root {}", self.root)?;
        }
        if self.unites {
            formatter.write_str(", uniting bits")?;
        }
        match (&self.send, self.in_place) {
            (Some(send), _) => write!(formatter, ", of {send}")?,
            (None, true) => formatter.write_str(", in place")?,
            (None, false) => {}
        }
        self.recv.as_ref().map_or(Ok(()), |recv| write!(formatter, ", to {recv}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::{MOCK_UPS, Problem};

    #[test]
    fn guidelines_are_those_of_the_paper() {
        let guidelines: Vec<String> = MOCK_UPS.iter().filter_map(|mock_up| mock_up.guideline()).collect();
        assert_eq!(
            guidelines,
            [
                "allgather <= gather + bcast",
                "allgather <= alltoall",
                "allgather <= allreduce",
                "allgather <= allgatherv",
                "allreduce <= reduce + bcast",
                "allreduce <= reduce_scatter_block + allgather",
                "allreduce <= reduce_scatter + allgatherv",
                "alltoall <= alltoallv",
                "bcast <= allgatherv",
                "bcast <= scatter + allgather",
                "gather <= allgather",
                "gather <= gatherv",
                "gather <= reduce",
                "reduce <= allreduce",
                "reduce <= reduce_scatter_block + gather",
                "reduce <= reduce_scatter + gatherv",
                "reduce_scatter_block <= reduce + scatter",
                "reduce_scatter_block <= reduce_scatter",
                "reduce_scatter_block <= allreduce",
                "scan <= exscan + reduce_local",
                "scatter <= bcast",
                "scatter <= scatterv",
            ]
        );
    }

    #[test]
    fn acts_are_written_like_steps_of_schedules() {
        let calls = MOCK_UPS[2].calls().unwrap();
        let acts: Vec<String> = (calls.acts)(&Problem::new(3), 1).iter().map(ToString::to_string).collect();
        assert_eq!(
            acts,
            [
                "clear all[0..3]",
                "copy send[1] to all[1]",
                "call allreduce, uniting bits, in place, to all[0..3]",
                "copy all[0..3] to recv[0..3]",
            ]
        );
    }
}
