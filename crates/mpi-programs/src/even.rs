//! Calls of which every rank has the same share.

use std::rc::Rc;

use rustcoll::algorithms::Collective;
use rustcoll::selection::Measure;

use crate::call::{Arguments, Call, Elements};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::environment::Error;
use crate::operator::Arithmetic;

use Collective::*;

/// The bytes of an element.
pub const ELEMENT: usize = size_of::<i32>();

/// A call with integers, as many as the bytes are by the collective's measure; those of each block where it has none. Rank 0
/// is the root, and reductions add up.
pub fn call(
    collective: Collective,
    communicator: &Communicator,
    bytes: usize,
    seed: u64,
) -> Result<Call, Error> {
    let datatype = Rc::new(Datatype::int());
    let [send, receive] =
        shares(collective, communicator.rank(), communicator.size(), bytes / ELEMENT).map(|counts| {
            counts.into_iter().map(|count| Elements { datatype: datatype.clone(), count }).collect()
        });
    let mut arguments = Arguments::new(collective, send, receive);
    if collective.reduces() {
        arguments.arithmetic = Some(Arithmetic::Sum);
    }
    Call::new(communicator, &arguments, seed)
}

/// How many bytes such a call moves into a rank's receive buffer.
pub fn received(collective: Collective, rank: usize, ranks: usize, bytes: usize) -> usize {
    let is_root = rank == 0;
    let receives = match collective {
        Barrier => false,
        Bcast => !is_root,
        Gather | Gatherv | Reduce => is_root,
        _ => true,
    };
    let [_, receive] = shares(collective, rank, ranks, bytes / ELEMENT);
    if receives { receive.iter().sum::<usize>() * ELEMENT } else { 0 }
}

/// The elements of the blocks that a rank sends, and of those that it receives.
fn shares(collective: Collective, rank: usize, ranks: usize, elements: usize) -> [Vec<usize>; 2] {
    let blocks: Vec<usize> = (0..ranks).map(|rank| block(collective, elements, rank, ranks)).collect();
    let own = vec![blocks[rank]];
    match collective {
        Alltoall | Alltoallv | Alltoallw => [blocks.clone(), blocks],
        Allgather | Allgatherv | Gather | Gatherv => [own, blocks],
        Scatter | Scatterv | ReduceScatter | ReduceScatterBlock => [blocks, own],
        _ => [vec![elements], vec![elements]],
    }
}

/// The elements of a rank's block.
fn block(collective: Collective, elements: usize, rank: usize, ranks: usize) -> usize {
    match Measure::of(collective) {
        Measure::AllBlocks => elements / ranks + usize::from(rank < elements % ranks),
        _ => elements,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_parts_of_what_is_measured_together() {
        let lengths = |collective| (0..3).map(|rank| block(collective, 8, rank, 3)).collect::<Vec<_>>();
        assert_eq!(lengths(ReduceScatter), [3, 3, 2]);
        assert_eq!(lengths(ReduceScatterBlock), [8, 8, 8]);
    }

    #[test]
    fn what_a_rank_receives_depends_on_whether_it_is_the_root() {
        let of_ranks = |collective| [0, 1].map(|rank| received(collective, rank, 4, 16));
        assert_eq!(of_ranks(Bcast), [0, 16]);
        assert_eq!(of_ranks(Reduce), [16, 0]);
        assert_eq!(of_ranks(Allgather), [64, 64]);
        assert_eq!(of_ranks(ReduceScatterBlock), [16, 16]);
        assert_eq!(of_ranks(Barrier), [0, 0]);
    }
}
