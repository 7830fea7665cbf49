//! Maps the blocks of a collective to elements, by the arguments of the call.

use super::{Binding, Counts, View};
use crate::algorithms::Collective;
use crate::schedule::Layout;

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
        | Collective::Scan => {
            Binding::new(send.view(vector), recv.view(vector), known(recv, send).copies(vector))
        }
        Collective::Allgather | Collective::Allgatherv | Collective::Gather | Collective::Gatherv => {
            Binding::new(send.view(own), recv.view(block), known(recv, send).packed())
        }
        Collective::Scatter | Collective::Scatterv => {
            Binding::new(send.view(block), recv.view(own), known(send, recv).packed())
        }
        Collective::Alltoall
        | Collective::Alltoallv
        | Collective::Alltoallw
        | Collective::NeighborAllgather
        | Collective::NeighborAllgatherv
        | Collective::NeighborAlltoall
        | Collective::NeighborAlltoallv
        | Collective::NeighborAlltoallw => Binding::new(send.view(block), recv.view(block), recv.packed()),
        Collective::ReduceScatter | Collective::ReduceScatterBlock => {
            Binding::new(send.view(block), recv.view(own), send.copies(block))
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
