//! Calls of a given shape, and the elements that each rank sends and receives.

use std::rc::Rc;

use expected_results::buffers::Membership;
use measurements::Shape;
use rustcoll::algorithms::{Collective, Graph};
use rustcoll::selection::Measure;

use crate::call::{Arguments, Call, Elements};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::environment::Error;
use crate::operator::Arithmetic;

use Collective::*;

pub const ELEMENT: usize = size_of::<i32>();

/// One in so many blocks of a sparse call holds data.
const SPARSE: usize = 10;

/// Makes a call with ints of `bytes` bytes, by the collective's measure, or in each block if it has no measure. Rank 0
/// is the root, and reductions add up. The communicator must have the shape's groups or neighbours.
pub fn call(
    (collective, shape): (Collective, Shape),
    communicator: &Communicator,
    bytes: usize,
    seed: u64,
) -> Result<Call, Error> {
    let datatype = Rc::new(Datatype::int());
    let graph = &communicator.topology().graph;
    let [send, receive] =
        shares((collective, shape), communicator.membership(), graph, bytes / ELEMENT).map(|counts| {
            counts.into_iter().map(|count| Elements { datatype: datatype.clone(), count }).collect()
        });
    let mut arguments = Arguments::new(collective, send, receive);
    if collective.reduces() {
        arguments.arithmetic = Some(Arithmetic::Sum);
    }
    Call::new(communicator, &arguments, seed)
}

/// Returns how many bytes such a call moves into a rank's receive buffer.
pub fn received(
    (collective, shape): (Collective, Shape),
    membership: &Membership,
    graph: &Graph,
    bytes: usize,
) -> usize {
    let (is_root, is_served) = (membership.number() == 0, membership.partners().contains(&0));
    let receives = match collective {
        Barrier => false,
        Bcast => is_served && !is_root,
        Scatter | Scatterv => is_served,
        Gather | Gatherv | Reduce => is_root,
        _ => true,
    };
    let [_, receive] = shares((collective, shape), membership, graph, bytes / ELEMENT);
    if receives { receive.iter().sum::<usize>() * ELEMENT } else { 0 }
}

/// Returns the elements of each block that a rank sends, and of each block that it receives.
fn shares(
    (collective, shape): (Collective, Shape),
    membership: &Membership,
    graph: &Graph,
    elements: usize,
) -> [Vec<usize>; 2] {
    let blocks = |ranks| Blocks::of(collective, shape, elements, ranks);
    let (group, partners) = (blocks(membership.size), blocks(membership.partners().len()));
    let own = vec![group.length(membership.rank)];
    // MPI needs a count even without a neighbour.
    let for_each_of = |neighbours: usize| vec![elements; neighbours.max(1)];
    let neighbours = graph.neighbours(membership.rank);
    match collective {
        Alltoall | Alltoallv | Alltoallw => {
            // Two ranks send each other blocks of equal length.
            let pair = |partner| partners.length((membership.rank + partner) % partners.number);
            let pairs: Vec<usize> = (0..partners.number).map(pair).collect();
            [pairs.clone(), pairs]
        }
        Allgather | Allgatherv | Gather | Gatherv => [own, partners.lengths()],
        Scatter | Scatterv => [partners.lengths(), own],
        ReduceScatter | ReduceScatterBlock => [group.lengths(), own],
        NeighborAllgather | NeighborAllgatherv => [vec![elements], for_each_of(neighbours.indegree)],
        NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
            [for_each_of(neighbours.outdegree), for_each_of(neighbours.indegree)]
        }
        _ => [vec![elements], vec![elements]],
    }
}

/// The blocks of some ranks, which divide all elements by their weights.
struct Blocks {
    shape: Shape,
    number: usize,
    all: usize,
}

impl Blocks {
    fn of(collective: Collective, shape: Shape, elements: usize, ranks: usize) -> Blocks {
        let together = Blocks { shape, number: ranks, all: elements };
        match Measure::of(collective) {
            Measure::AllBlocks => together,
            _ if shape == Shape::Sparse => {
                Blocks { all: elements * together.weight_below(ranks), ..together }
            }
            _ => Blocks { all: elements * ranks, ..together },
        }
    }

    /// Returns the total weight of the blocks before this one.
    fn weight_below(&self, block: usize) -> usize {
        match self.shape {
            Shape::Linear => block * (block + 1) / 2,
            // The first block, the root's, is empty.
            Shape::Sparse => (block + SPARSE - 2) / SPARSE,
            _ => block,
        }
    }

    fn length(&self, block: usize) -> usize {
        let begin = |block| (self.all * self.weight_below(block)).div_ceil(self.weight_below(self.number));
        begin(block + 1) - begin(block)
    }

    fn lengths(&self) -> Vec<usize> {
        (0..self.number).map(|block| self.length(block)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn lengths(collective: Collective, shape: Shape, elements: usize, ranks: usize) -> Vec<usize> {
        Blocks::of(collective, shape, elements, ranks).lengths()
    }

    #[test]
    fn blocks_are_parts_of_what_is_measured_together() {
        assert_eq!(lengths(ReduceScatter, Shape::Even, 8, 3), [3, 3, 2]);
        assert_eq!(lengths(ReduceScatterBlock, Shape::Even, 8, 3), [8, 8, 8]);
        assert_eq!(lengths(Allgatherv, Shape::Linear, 12, 3), [2, 4, 6]);
        assert_eq!(lengths(Allgatherv, Shape::Sparse, 12, 4), [0, 12, 0, 0]);
    }

    #[test]
    fn linear_blocks_are_as_long_together_as_even_ones() {
        for ranks in [2, 5, 13] {
            let linear = lengths(Gatherv, Shape::Linear, 100, ranks);
            assert_eq!(linear.iter().sum::<usize>(), 100 * ranks);
            assert!(linear.is_sorted() && linear[0] > 0, "{linear:?}");
        }
    }

    #[test]
    fn nine_of_ten_sparse_blocks_are_empty() {
        let filled = |ranks| {
            let lengths = lengths(Alltoallv, Shape::Sparse, 5, ranks).into_iter().enumerate();
            lengths.filter(|(_, length)| *length > 0).collect::<Vec<_>>()
        };
        assert_eq!(filled(2), [(1, 5)]);
        assert_eq!(filled(13), [(1, 5), (11, 5)]);
        assert_eq!(filled(100).len(), 10);
    }

    #[test]
    fn what_one_rank_sends_another_one_expects() {
        let of =
            |rank, shape| shares((Alltoallv, shape), &Membership::in_group(rank, 5), &Graph::default(), 15);
        for shape in [Shape::Even, Shape::Linear, Shape::Sparse] {
            for (from, to) in (0..5).flat_map(|from| (0..5).map(move |to| (from, to))) {
                assert_eq!(of(from, shape)[0][to], of(to, shape)[1][from], "{shape:?} {from} {to}");
            }
        }
    }

    #[test]
    fn what_a_rank_receives_depends_on_whether_it_is_the_root() {
        let of_ranks = |collective| {
            let of = |rank| {
                received((collective, Shape::Even), &Membership::in_group(rank, 4), &Graph::default(), 16)
            };
            [0, 1].map(of)
        };
        assert_eq!(of_ranks(Bcast), [0, 16]);
        assert_eq!(of_ranks(Reduce), [16, 0]);
        assert_eq!(of_ranks(Allgather), [64, 64]);
        assert_eq!(of_ranks(ReduceScatterBlock), [16, 16]);
        assert_eq!(of_ranks(Barrier), [0, 0]);
    }

    #[test]
    fn neighbours_have_a_block_each() {
        let graph = Topology::stencil_9(9).graph;
        let of = |collective, rank| {
            shares((collective, Shape::Stencil9), &Membership::in_group(rank, 9), &graph, 7)
        };
        assert_eq!(of(NeighborAlltoallv, 4), [vec![7; 8], vec![7; 8]]);
        assert_eq!(of(NeighborAllgather, 0), [vec![7], vec![7; 3]]);
    }

    #[test]
    fn between_groups_each_rank_exchanges_blocks_with_those_of_the_other_one() {
        let membership = Membership { rank: 1, size: 3, first: 3, others: Some(0..3) };
        let of = |collective| shares((collective, Shape::Inter), &membership, &Graph::default(), 6);
        assert_eq!(of(Alltoall), [vec![6; 3], vec![6; 3]]);
        assert_eq!(of(Allgatherv), [vec![2], vec![2; 3]]);
        assert_eq!(of(ReduceScatter), [vec![2; 3], vec![2]]);
    }
}
