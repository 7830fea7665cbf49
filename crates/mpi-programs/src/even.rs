//! Calls of which every rank has the same share.

use std::rc::Rc;

use rustcoll::algorithms::Collective;
use rustcoll::selection::Measure;

use crate::call::{Arguments, Call, Elements};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::environment::Error;
use crate::operator::{Arithmetic, Operator};

use Collective::*;

const ELEMENT: usize = size_of::<i32>();

/// A call with integers, as many as the bytes are by the collective's measure; those of each block where it has none. Rank 0
/// is the root, and reductions add up.
pub fn call(
    collective: Collective,
    communicator: &Communicator,
    bytes: usize,
    seed: u64,
) -> Result<Call, Error> {
    let datatype = Rc::new(Datatype::int());
    let ranks = communicator.size();
    let elements = |count| Elements { datatype: datatype.clone(), count };
    let blocks: Vec<Elements> =
        (0..ranks).map(|rank| elements(block(collective, bytes / ELEMENT, rank, ranks))).collect();
    let vector = vec![elements(bytes / ELEMENT)];
    let own = vec![blocks[communicator.rank()].clone()];
    let (send, receive) = match collective {
        Alltoall | Alltoallv | Alltoallw => (blocks.clone(), blocks),
        Allgather | Allgatherv | Gather | Gatherv => (own, blocks),
        Scatter | Scatterv | ReduceScatter | ReduceScatterBlock => (blocks, own),
        _ => (vector.clone(), vector),
    };
    let mut arguments = Arguments::new(collective, send, receive);
    if collective.reduces() {
        arguments.operator = Some(Rc::new(Operator::new(Arithmetic::Sum)?));
    }
    Ok(Call::new(communicator, &arguments, seed))
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
}
