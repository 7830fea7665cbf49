//! Maps blocks to elements on an inter-communicator, for a rank whose own group has the lower numbers.
//!
//! Blocks of the other group's ranks have numbers from `local` on. Of its own group's blocks, a rank knows
//! the lengths only if all of them are equal.

use super::{Binding, Counts, View};
use crate::algorithms::Collective;
use crate::schedule::Layout;

/// Binds the blocks of a collective's schedule, of which there are `blocks`, on one of the `local` ranks of a
/// group. The other group has `remote` ranks. In a reduce-scatter, the counts of the send buffer are those by
/// which the result for the rank's own group is cut.
pub fn bind(
    collective: Collective,
    rank: usize,
    (local, remote): (usize, usize),
    blocks: usize,
    send: &Counts,
    recv: &Counts,
) -> Binding {
    let own = |elements| Layout::Single { block: rank, elements };
    let of_others = |counts: &Counts| {
        let View { layout, bytes } = counts.view(|elements| Layout::Uniform { elements });
        View { layout: Layout::Shifted { by: local, layout: Box::new(layout) }, bytes }
    };
    // These blocks are bytes, and each is as long as the rank's own block.
    let of_own_group = |own: &Counts| {
        let lengths = vec![own.bytes(); local].into_iter().chain(vec![0; remote]);
        View::new(Layout::packed(lengths), 1)
    };
    match collective {
        Collective::Allreduce
        | Collective::Barrier
        | Collective::Bcast
        | Collective::Exscan
        | Collective::NeighborAllgather
        | Collective::NeighborAllgatherv
        | Collective::NeighborAlltoall
        | Collective::NeighborAlltoallv
        | Collective::NeighborAlltoallw
        | Collective::Reduce
        | Collective::Scan => super::bind(collective, rank, blocks, send, recv),
        Collective::Allgather | Collective::Allgatherv | Collective::Gather | Collective::Gatherv => {
            Binding::new(send.view(own), of_others(recv), of_own_group(send))
        }
        Collective::Scatter | Collective::Scatterv => {
            Binding::new(of_others(send), recv.view(own), of_own_group(recv))
        }
        Collective::Alltoall | Collective::Alltoallv | Collective::Alltoallw => {
            Binding::new(of_others(send), of_others(recv), recv.packed())
        }
        Collective::ReduceScatter | Collective::ReduceScatterBlock => {
            let (lengths, bytes) = cut_of_own_group(send, local);
            let total = lengths.iter().sum();
            // Of the other group's blocks only the total is known, so the first block holds all of it.
            let vector = [total].into_iter().chain(vec![0; remote - 1]);
            Binding::new(
                View::new(Layout::Single { block: local, elements: total }, bytes),
                recv.view(own),
                View::new(Layout::packed(lengths.into_iter().chain(vector)), bytes),
            )
        }
    }
}

/// Returns the elements of each block of the own group, and the bytes of an element.
fn cut_of_own_group(counts: &Counts, local: usize) -> (Vec<usize>, usize) {
    match counts {
        Counts::One { count, bytes } => (vec![*count; local], *bytes),
        Counts::Each { places, bytes } => (places.iter().map(|(_, elements)| *elements).collect(), *bytes),
        Counts::Typed { .. } => unreachable!("a reduction has one datatype"),
    }
}
