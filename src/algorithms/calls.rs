//! What algorithms consist of that call other collectives of their communicator.
//!
//! As a schedule is a rank's program of messages, this is its program of calls, over the same numbered blocks. Where the
//! collective has one vector, `parts` says how that is cut; else there is a block for each rank.

use super::{Algorithm, Collective, Problem};
use std::fmt;
use std::ops::Range;

/// An algorithm made of calls.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    /// How a vector is cut into blocks.
    pub parts: Parts,
    /// What a rank does, one after the other. All ranks make the same calls in the same order.
    pub acts: fn(&Problem, usize) -> Vec<Act>,
}

/// How the blocks come about with which calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// A block for each rank, as the collective has them.
    Given,
    /// The vector is one block.
    Whole,
    /// The vector is cut into a block for each rank, all as long as the longest. In memory of the algorithm's own the last
    /// ones are filled up; elsewhere only the whole vector can be named.
    Padded,
    /// The vector is cut into a block for each rank, whose lengths differ by one element at most.
    Balanced,
    /// The root's block is the vector; the others are empty.
    Root,
}

/// Memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// The caller's input. A reduce-scatter in place has it as well, where the result goes.
    Send,
    /// The caller's output, which holds the input of a broadcast and of calls in place.
    Recv,
    /// Room for all blocks: bytes, or where the collective reduces elements.
    All,
    /// Room for the rank's own block, of the same kind.
    Own,
}

/// Consecutive blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Where they are.
    pub area: Area,
    /// Their numbers.
    pub blocks: Range<usize>,
}

impl Area {
    /// One block of it.
    pub fn block(self, number: usize) -> Region {
        self.blocks(number..number + 1)
    }

    /// Several blocks of it.
    pub fn blocks(self, blocks: Range<usize>) -> Region {
        Region { area: self, blocks }
    }
}

/// What a rank does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Copies as many blocks as both have.
    Copy {
        /// From here.
        from: Region,
        /// To there.
        to: Region,
    },
    /// Sets all bits to zero.
    Clear(Region),
    /// Combines: the left operand is the first one, the right operand and the result the second one.
    Reduce {
        /// The left operand.
        from: Region,
        /// The right operand, and the result.
        to: Region,
    },
    /// Calls a collective.
    Call(Call),
}

/// The call of a collective, with as many blocks as the regions have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// The root, 0 where there is none.
    pub root: usize,
    /// Whether this rank passes `MPI_IN_PLACE`; of a reduce-scatter the input still is `send`.
    pub in_place: bool,
    /// Whether a reduction unites bits, rather than to apply the caller's operator.
    pub unites: bool,
    /// What is sent; `None` if the rank sends nothing, or what it receives into.
    pub send: Option<Region>,
    /// Where it receives; `None` if it does not.
    pub recv: Option<Region>,
}

impl Call {
    /// A call that is not in place, with the caller's operator if it reduces, and root 0.
    pub fn new(
        collective: Collective,
        send: impl Into<Option<Region>>,
        recv: impl Into<Option<Region>>,
    ) -> Call {
        Call { collective, root: 0, in_place: false, unites: false, send: send.into(), recv: recv.into() }
    }

    /// The same with another root.
    pub fn rooted(self, root: usize) -> Call {
        Call { root, ..self }
    }

    /// The same in place, if it is so; then nothing is sent but what stands where the result goes.
    pub fn in_place_if(self, in_place: bool) -> Call {
        let send = self.send.filter(|_| !in_place);
        Call { in_place, send, ..self }
    }

    /// The same with the union of bits as operator.
    pub fn uniting(self) -> Call {
        Call { unites: true, ..self }
    }
}

impl From<Call> for Act {
    fn from(call: Call) -> Act {
        Act::Call(call)
    }
}

impl Calls {
    /// What is done one after the other, by name: the collectives that are called, and a reduction within the rank.
    pub fn names(&self) -> Vec<&'static str> {
        let name = |act: Act| match act {
            Act::Call(call) => Some(call.collective.name()),
            Act::Reduce { .. } => Some("reduce_local"),
            Act::Copy { .. } | Act::Clear(_) => None,
        };
        // Of two ranks the second one does all there is to do.
        (self.acts)(&Problem::new(2), 1).into_iter().filter_map(name).collect()
    }
}

impl Algorithm {
    /// The guideline that a mock-up stands for, as `allreduce <= reduce + bcast`.
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

/// As the runs of a schedule are written: `send[3]`, `recv[0..8]`.
impl fmt::Display for Region {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Region { area, blocks } = self;
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

impl fmt::Display for Call {
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
