//! Algorithms made of calls, bound to the elements of one call. [`Deeds`] are for them what a plan is for a schedule.

use crate::algorithms::{
    Act, Algorithm, Area, AreaBlocks, Calls, Collective, Cut, InnerCall, Parts, Problem,
};
use crate::schedule::Layout;
use std::fmt;

/// The length of the blocks of a call, in elements of each buffer; if it has only a vector, the vector's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    pub send: usize,
    pub recv: usize,
    /// In the algorithm's own memory: in bytes, or in elements if the collective reduces.
    pub own: usize,
}

/// Consecutive elements of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaSpan {
    pub area: Area,
    /// Number of the first element.
    pub first: usize,
    pub elements: usize,
}

/// A buffer as passed to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundBuffer {
    pub area: Area,
    /// Where the buffer starts in the area, in elements.
    pub first: usize,
    /// Elements of the whole buffer.
    pub elements: usize,
    /// The elements of each block, or of the vector; 0 if counts differ.
    pub count: usize,
    /// If counts differ: elements and displacements of the blocks.
    pub varying: Option<(Vec<usize>, Vec<usize>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCall {
    pub collective: Collective,
    /// The root; 0 if the collective has none.
    pub root: usize,
    /// Whether this rank passes `MPI_IN_PLACE`.
    pub in_place: bool,
    /// Whether a reduction unites the bits of bytes, instead of applying the caller's operator to elements.
    pub unites: bool,
    /// The send buffer. For a reduce-scatter in place, this is where the result goes.
    pub send: Option<BoundBuffer>,
    /// The receive buffer, or the buffer of a broadcast.
    pub recv: Option<BoundBuffer>,
}

/// One action of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Copies data from the first span to the second, whose elements may be of another type.
    Copy(AreaSpan, AreaSpan),
    /// Sets all bits to zero.
    Clear(AreaSpan),
    /// Reduces: the first span is the left operand, the second is the right operand and the result.
    Reduce(AreaSpan, AreaSpan),
    Call(BoundCall),
}

/// All that a rank does in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deeds {
    /// The deeds, one after the other.
    pub deeds: Vec<Deed>,
    /// Elements of the algorithm's own memory: for all blocks, and for the rank's own block.
    pub memory: [usize; 2],
    /// The most counts and displacements that one of the calls needs.
    pub numbers: usize,
}

/// How much memory an algorithm made of calls may allocate, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub message: usize,
    /// For counts and displacements, which are ints.
    pub numbers: usize,
}

impl Limits {
    /// The limits unless the user sets others: the defaults of Hunold and Carpen-Amarie 2018.
    pub const DEFAULT: Limits = Limits { message: 100_000_000, numbers: 10_000 };
}

/// Why calls of other collectives cannot replace a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Some rank needs more bytes for data than allowed.
    Message {
        /// Bytes that the rank needs.
        needed: usize,
        /// Bytes that it may have.
        most: usize,
    },
    /// Some rank needs more bytes for counts and displacements than allowed.
    Numbers {
        /// Bytes that the rank needs.
        needed: usize,
        /// Bytes that it may have.
        most: usize,
    },
    /// The blocks of a buffer have more bytes together than an int counts.
    BeyondInt { bytes: usize },
}

impl fmt::Display for NoRoom {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NoRoom::Message { needed, most } => {
                write!(formatter, "it needs {needed} bytes for data, and may have {most}")
            }
            NoRoom::Numbers { needed, most } => {
                write!(formatter, "it needs {needed} bytes for counts and displacements, and may have {most}")
            }
            NoRoom::BeyondInt { bytes } => {
                write!(formatter, "its calls are of {bytes} bytes, more than an int counts")
            }
        }
    }
}

impl Deeds {
    /// Checks that the calls need no more memory on any rank than `limits` allow, and no counts beyond an int. `bytes`
    /// is the size of the replaced call by the collective's measure. The result is the same on all ranks.
    ///
    /// # Panics
    /// If the algorithm is not made of calls.
    pub fn check_room(
        algorithm: &Algorithm,
        size: usize,
        root: usize,
        bytes: usize,
        limits: Limits,
    ) -> Result<(), NoRoom> {
        let longest = match algorithm.contract().cut() {
            // The vector may be padded to a multiple of the number of ranks.
            Cut::Vector => bytes.saturating_add(size),
            Cut::Ranks | Cut::Pairs | Cut::Edges => bytes.saturating_mul(size),
        };
        if longest > i32::MAX as usize {
            return Err(NoRoom::BeyondInt { bytes: longest });
        }
        let (needed, numbers) = Deeds::most_memory(algorithm, size, root, bytes);
        if needed > limits.message {
            return Err(NoRoom::Message { needed, most: limits.message });
        }
        let needed = numbers * size_of::<i32>();
        if needed > limits.numbers {
            return Err(NoRoom::Numbers { needed, most: limits.numbers });
        }
        Ok(())
    }

    /// Returns what a rank does in a call with blocks of these lengths.
    pub fn new(
        collective: Collective,
        calls: &Calls,
        problem: &Problem,
        rank: usize,
        lengths: Lengths,
    ) -> Deeds {
        let not_in_place = Problem { in_place: false, ..problem.clone() };
        let binder = Binder { collective, parts: calls.parts, problem: &not_in_place, rank, lengths };
        let deeds: Vec<Deed> = (calls.acts)(problem, rank).iter().flat_map(|act| binder.deeds(act)).collect();
        let memory =
            [Area::All, Area::Own].map(|area| deeds.iter().map(|deed| deed.end_in(area)).max().unwrap_or(0));
        let numbers = deeds.iter().map(Deed::numbers).max().unwrap_or(0);
        Deeds { deeds, memory, numbers }
    }

    /// Returns the most memory that a rank needs in calls of `bytes` bytes by the collective's measure: bytes
    /// of data, and the number of counts and displacements. Padding of a vector to equal blocks is counted as
    /// if elements were bytes, because not all ranks know how long elements are.
    ///
    /// # Panics
    /// If the algorithm is not made of calls.
    pub fn most_memory(algorithm: &Algorithm, size: usize, root: usize, bytes: usize) -> (usize, usize) {
        let calls = algorithm.calls().expect("it is made of calls");
        let lengths = Lengths { send: bytes, recv: bytes, own: bytes };
        // The root, rank 0 (the root of calls with a root of their own) and other ranks need different
        // memory. The last rank has the longest of balanced blocks.
        let ranks = [0, 1, root, root + 1, size - 1].map(|rank| rank % size);
        let needs = ranks.into_iter().flat_map(|rank| {
            [false, true].map(|in_place| {
                let problem = Problem { root, in_place, ..Problem::new(size) };
                let Deeds { memory, numbers, .. } =
                    Deeds::new(algorithm.contract(), calls, &problem, rank, lengths);
                (memory.iter().sum::<usize>(), numbers)
            })
        });
        needs.fold((0, 0), |most, need| (most.0.max(need.0), most.1.max(need.1)))
    }
}

impl Deed {
    /// Returns the end of what the deed accesses in an area.
    fn end_in(&self, wanted: Area) -> usize {
        let of_span = |span: &AreaSpan| if span.area == wanted { span.first + span.elements } else { 0 };
        match self {
            Deed::Copy(from, to) | Deed::Reduce(from, to) => of_span(from).max(of_span(to)),
            Deed::Clear(span) => of_span(span),
            Deed::Call(call) => {
                let sides = call.sides().filter(|side| side.area == wanted);
                sides.map(|side| side.first + side.elements).max().unwrap_or(0)
            }
        }
    }

    fn numbers(&self) -> usize {
        let Deed::Call(call) = self else { return 0 };
        let of_block = if call.has_displacements() { 2 } else { 1 };
        call.sides().filter_map(|side| side.varying.as_ref()).map(|(counts, _)| of_block * counts.len()).sum()
    }
}

impl BoundCall {
    /// Whether blocks with differing counts also have displacements. In a reduce-scatter, blocks follow each other.
    pub fn has_displacements(&self) -> bool {
        self.collective != Collective::ReduceScatter
    }

    fn sides(&self) -> impl Iterator<Item = &BoundBuffer> {
        self.send.iter().chain(&self.recv)
    }
}

struct Binder<'call> {
    collective: Collective,
    parts: Parts,
    /// Not in place, so areas start with the same block whether the caller has one buffer or both.
    problem: &'call Problem,
    rank: usize,
    lengths: Lengths,
}

impl Binder<'_> {
    fn deeds(&self, act: &Act) -> Vec<Deed> {
        match act {
            Act::Copy { from, to } => self.copies(&self.span(from), &self.span(to)),
            Act::Clear(region) => vec![Deed::Clear(self.span(region))],
            Act::Reduce { from, to } => vec![Deed::Reduce(self.span(from), self.span(to))],
            Act::Call(call) => vec![Deed::Call(self.call(call))],
        }
    }

    /// Copies a vector. If its target is longer, pads it with the last element, which any operator accepts.
    fn copies(&self, from: &AreaSpan, to: &AreaSpan) -> Vec<Deed> {
        let part = |span: &AreaSpan, first: usize, elements: usize| AreaSpan {
            first: span.first + first,
            elements,
            ..*span
        };
        if self.parts != Parts::Padded {
            return vec![Deed::Copy(*from, *to)];
        }
        if self.collective == Collective::Bcast {
            // The caller's elements are not bytes, unlike the elements of the algorithm's own memory.
            let data = |span: &AreaSpan| match span.area {
                Area::All => part(span, 0, self.lengths.own),
                Area::Send | Area::Recv | Area::Own => *span,
            };
            return vec![Deed::Copy(data(from), data(to))];
        }
        let data = from.elements.min(to.elements);
        let mut copies = vec![Deed::Copy(part(from, 0, data), part(to, 0, data))];
        // Each copy doubles the copies of the last element.
        let mut end = data;
        while data > 0 && end < to.elements {
            let elements = (end - data + 1).min(to.elements - end);
            copies.push(Deed::Copy(part(to, data - 1, elements), part(to, end, elements)));
            end += elements;
        }
        copies
    }

    fn call(&self, call: &InnerCall) -> BoundCall {
        let InnerCall { collective, root, in_place, unites, .. } = *call;
        let [send, recv] = [(&call.send, true), (&call.recv, false)]
            .map(|(region, is_sent)| region.as_ref().map(|region| self.side(collective, region, is_sent)));
        BoundCall { collective, root, in_place, unites, send, recv }
    }

    fn side(&self, collective: Collective, region: &AreaBlocks, is_sent: bool) -> BoundBuffer {
        use Collective::*;
        let AreaSpan { area, first, elements } = self.span(region);
        let varies = match collective {
            Alltoallv => true,
            Allgatherv | Gatherv => !is_sent,
            ReduceScatter | Scatterv => is_sent,
            _ => false,
        };
        let has_vector = matches!(collective, Allreduce | Bcast | Exscan | Reduce);
        let block = |number: usize| self.span(&area.block(number));
        if varies {
            let blocks = region.blocks.clone().map(block);
            let varying = blocks.map(|block| (block.elements, block.first - first)).unzip();
            return BoundBuffer { area, first, elements, count: 0, varying: Some(varying) };
        }
        let count = if has_vector { elements } else { block(region.blocks.start).elements };
        BoundBuffer { area, first, elements, count, varying: None }
    }

    fn span(&self, region: &AreaBlocks) -> AreaSpan {
        let AreaBlocks { area, ref blocks } = *region;
        let start = self.start(area, self.first_block(area));
        let [first, end] = [blocks.start, blocks.end].map(|block| self.start(area, block) - start);
        AreaSpan { area, first, elements: end - first }
    }

    /// Returns the number of the first block of an area.
    fn first_block(&self, area: Area) -> usize {
        let blocks = self.problem.size;
        let of = match area {
            Area::Send => self.collective.send_blocks(self.problem, self.rank, blocks),
            Area::Recv => self.collective.recv_blocks(self.problem, self.rank, blocks),
            Area::All => 0..blocks,
            Area::Own if self.parts == Parts::Whole => 0..1,
            Area::Own => self.rank..self.rank + 1,
        };
        of.start
    }

    /// Returns where a block of an area would start if the area's first block were block 0.
    fn start(&self, area: Area, block: usize) -> usize {
        let size = self.problem.size;
        let length = match area {
            Area::Send => self.lengths.send,
            Area::Recv => self.lengths.recv,
            Area::All | Area::Own => self.lengths.own,
        };
        match self.parts {
            Parts::Given | Parts::Whole => block * length,
            Parts::Padded => {
                let padded = block * length.div_ceil(size);
                let is_own = matches!(area, Area::All | Area::Own);
                if is_own { padded } else { padded.min(length) }
            }
            Parts::Balanced => Layout::Balanced { elements: length, blocks: size }.elements(0..block),
            Parts::Root => {
                if block <= self.problem.root {
                    0
                } else {
                    length
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, MOCK_UPS};

    /// Returns the need of the neediest rank, in place or not, with bytes as elements.
    fn needed(algorithm: &Algorithm, size: usize, root: usize, bytes: usize) -> (usize, usize) {
        let lengths = Lengths { send: bytes, recv: bytes, own: bytes };
        let mut most = (0, 0);
        for in_place in [false, true] {
            let problem = Problem { root, in_place, ..Problem::new(size) };
            for rank in 0..size {
                let calls = algorithm.calls().unwrap();
                let deeds = Deeds::new(algorithm.contract(), calls, &problem, rank, lengths);
                most = (most.0.max(deeds.memory.iter().sum()), most.1.max(deeds.numbers));
            }
        }
        most
    }

    #[test]
    fn the_most_memory_is_what_the_neediest_rank_needs() {
        for algorithm in MOCK_UPS {
            for size in 1..=9 {
                for root in if algorithm.contract().is_rooted() { 0..size } else { 0..1 } {
                    for bytes in [0, 1, size - 1, size, size + 1, 100] {
                        assert_eq!(
                            Deeds::most_memory(algorithm, size, root, bytes),
                            needed(algorithm, size, root, bytes),
                            "{} of {bytes} bytes on {size} ranks, root {root}",
                            algorithm.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn limits_are_what_may_just_be_needed() {
        let allreduce = Collective::Allgather.algorithm("allgather_as_allreduce").unwrap();
        let room =
            |message, bytes| Deeds::check_room(allreduce, 3, 0, bytes, Limits { message, ..Limits::DEFAULT });
        assert_eq!(room(1200, 400), Ok(()));
        assert_eq!(room(1199, 400), Err(NoRoom::Message { needed: 1200, most: 1199 }));
        assert_eq!(room(usize::MAX, 1 << 30), Err(NoRoom::BeyondInt { bytes: 3 << 30 }));
        let gatherv = Collective::Gather.algorithm("gather_as_gatherv").unwrap();
        let room = |numbers| Deeds::check_room(gatherv, 3, 0, 400, Limits { numbers, ..Limits::DEFAULT });
        assert_eq!(room(24), Ok(()));
        assert_eq!(room(23), Err(NoRoom::Numbers { needed: 24, most: 23 }));
    }
}
