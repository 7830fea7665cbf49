//! From a collective's arguments to the elements of its blocks.

mod two_groups;

pub use two_groups::bind as bind_two_groups;

use super::{Binding, ElementBytes, View};
use crate::algorithms::Collective;
use crate::schedule::Layout;
use std::sync::Arc;

/// The counts of one buffer of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// One count: of the whole vector, or of each block.
    One {
        /// Elements.
        count: usize,
        /// Bytes of data in an element.
        bytes: usize,
    },
    /// A count for each rank's or neighbour's block, and where it starts.
    Each {
        /// Offset and number of elements of each block.
        places: Arc<[(usize, usize)]>,
        /// Bytes of data in an element.
        bytes: usize,
    },
    /// Each rank's or neighbour's block has a datatype of its own.
    Typed {
        /// Bytes of data in each block.
        bytes: Arc<[usize]>,
    },
}

impl Counts {
    /// A buffer that the call does not have.
    pub const NONE: Counts = Counts::One { count: 0, bytes: 0 };

    /// The same data counted in bytes. A buffer that the call does not have stays one.
    pub fn in_bytes(&self) -> Counts {
        match self {
            none if *none == Counts::NONE => Counts::NONE,
            Counts::One { count, bytes } => Counts::One { count: count * bytes, bytes: 1 },
            Counts::Each { places, bytes } => {
                let places = places.iter().map(|&(offset, elements)| (offset * bytes, elements * bytes));
                Counts::Each { places: places.collect(), bytes: 1 }
            }
            Counts::Typed { .. } => self.clone(),
        }
    }

    /// Bytes of data altogether; of one block, where all have the same count.
    pub fn bytes(&self) -> usize {
        match self {
            Counts::One { count, bytes } => count * bytes,
            Counts::Each { .. } | Counts::Typed { .. } => self.block_bytes().iter().sum(),
        }
    }

    /// Bytes of data of each block, or of the vector.
    fn block_bytes(&self) -> Vec<usize> {
        match self {
            Counts::One { count, bytes } => vec![count * bytes],
            Counts::Each { places, bytes } => places.iter().map(|(_, elements)| elements * bytes).collect(),
            Counts::Typed { bytes } => bytes.to_vec(),
        }
    }

    /// The view of the caller's buffer.
    fn view(&self, layout: impl FnOnce(usize) -> Layout) -> View {
        match self {
            Counts::One { count, bytes } => View::new(layout(*count), *bytes),
            Counts::Each { places, bytes } => View::new(Layout::Placed(Arc::clone(places)), *bytes),
            Counts::Typed { bytes } => {
                View { layout: Layout::Separate, bytes: ElementBytes::Listed(Arc::clone(bytes)) }
            }
        }
    }

    /// The view of scratch memory that holds copies of the blocks, in elements of the same datatype.
    fn copies(&self, layout: impl FnOnce(usize) -> Layout) -> View {
        match self {
            Counts::Each { places, bytes } => {
                View::new(Layout::packed(places.iter().map(|(_, elements)| *elements)), *bytes)
            }
            Counts::One { .. } | Counts::Typed { .. } => self.view(layout),
        }
    }

    /// The view of scratch memory that holds the data of the blocks as bytes, without gaps.
    fn packed(&self) -> View {
        let layout = match self.block_bytes()[..] {
            [elements] => Layout::Uniform { elements },
            ref lengths => Layout::packed(lengths.iter().copied()),
        };
        View::new(layout, 1)
    }
}

/// Binds the blocks of a collective's schedule, of which there are `blocks`, on one rank.
///
/// A buffer that a rank does not have, by an in-place call or because it is not the root, is [`Counts::NONE`].
pub fn bind(collective: Collective, rank: usize, blocks: usize, send: &Counts, recv: &Counts) -> Binding {
    let vector = |elements| Layout::Balanced { elements, blocks };
    let block = |elements| Layout::Uniform { elements };
    let own = |elements| Layout::Single { block: rank, elements };
    let known =
        |first: &Counts, second: &Counts| if *first == Counts::NONE { second.clone() } else { first.clone() };
    match collective {
        Collective::Barrier => Binding::uniform(View::new(block(1), 1)),
        Collective::Allreduce
        | Collective::Bcast
        | Collective::Exscan
        | Collective::Reduce
        | Collective::Scan => Binding {
            send: send.view(vector),
            recv: recv.view(vector),
            scratch: known(recv, send).copies(vector),
        },
        Collective::Allgather | Collective::Allgatherv | Collective::Gather | Collective::Gatherv => {
            Binding { send: send.view(own), recv: recv.view(block), scratch: known(recv, send).packed() }
        }
        Collective::Scatter | Collective::Scatterv => {
            Binding { send: send.view(block), recv: recv.view(own), scratch: known(send, recv).packed() }
        }
        Collective::Alltoall
        | Collective::Alltoallv
        | Collective::Alltoallw
        | Collective::NeighborAllgather
        | Collective::NeighborAllgatherv
        | Collective::NeighborAlltoall
        | Collective::NeighborAlltoallv
        | Collective::NeighborAlltoallw => {
            Binding { send: send.view(block), recv: recv.view(block), scratch: recv.packed() }
        }
        Collective::ReduceScatter | Collective::ReduceScatterBlock => {
            Binding { send: send.view(block), recv: recv.view(own), scratch: send.copies(block) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_is_not_there_is_not_there_in_bytes_either() {
        let send = Counts::One { count: 5, bytes: 8 };
        let whole = |send: &Counts, recv: &Counts| bind(Collective::Gather, 1, 3, send, recv).scratch;
        assert_eq!(whole(&send.in_bytes(), &Counts::NONE.in_bytes()), whole(&send, &Counts::NONE));
        assert_eq!(Counts::NONE.in_bytes(), Counts::NONE);
    }
}
