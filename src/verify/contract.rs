//! What each collective starts from and what it must end with.

use super::execution::Outcome;
use super::values::Value;
use super::violation::{Fault, Violation};
use crate::algorithms::{Collective, Problem};
use crate::schedule::{Buffer, Run};
use std::ops::Range;

/// What a block of a rank's receive buffer must hold.
enum Promise {
    /// A block of a rank's input.
    Input { rank: usize, block: usize },
    /// The reduction of a block over these ranks.
    Reduction { ranks: Range<usize> },
}

fn promise(collective: Collective, problem: &Problem, rank: usize, block: usize) -> Option<Promise> {
    match collective {
        Collective::Allgather | Collective::Allgatherv | Collective::Gather | Collective::Gatherv => {
            Some(Promise::Input { rank: block, block })
        }
        Collective::Alltoall | Collective::Alltoallv | Collective::Alltoallw => {
            Some(Promise::Input { rank: block, block: rank })
        }
        Collective::Bcast | Collective::Scatter | Collective::Scatterv => {
            Some(Promise::Input { rank: problem.root, block })
        }
        Collective::Allreduce
        | Collective::Reduce
        | Collective::ReduceScatter
        | Collective::ReduceScatterBlock => Some(Promise::Reduction { ranks: problem.partners(rank) }),
        Collective::Scan => Some(Promise::Reduction { ranks: 0..rank + 1 }),
        // MPI leaves the first rank's result undefined.
        Collective::Exscan => (rank > 0).then_some(Promise::Reduction { ranks: 0..rank }),
        Collective::Barrier => None,
    }
}

/// Checks that every rank's receive buffer holds what the collective promises; after a barrier, that every rank has
/// heard of every other, or of the other group.
pub fn check(
    collective: Collective,
    problem: &Problem,
    ordered: bool,
    outcome: &Outcome,
) -> Result<(), Violation> {
    for rank in 0..problem.size {
        if collective == Collective::Barrier {
            let unheard = outcome.unheard(rank, problem.partners(rank));
            unheard.map_or(Ok(()), |other| Err(Violation::of(rank)(Fault::Unheard(other))))?;
        }
        for block in collective.recv_blocks(problem, rank, outcome.blocks) {
            let checked = match promise(collective, problem, rank, block) {
                Some(Promise::Input { rank: from, block: number }) => {
                    check_equal(outcome, rank, block, outcome.values.input(from, number))
                }
                Some(Promise::Reduction { ranks }) => check_reduction(outcome, ordered, rank, block, ranks)
                    .and_then(|()| match collective {
                        Collective::Allreduce => check_alike(outcome, rank, block, problem.group(rank).start),
                        _ => Ok(()),
                    }),
                None => Ok(()),
            };
            checked.map_err(Violation::of(rank))?;
        }
    }
    Ok(())
}

fn check_equal(outcome: &Outcome, rank: usize, block: usize, expected: Value) -> Result<(), Fault> {
    let (run, found) = result(outcome, rank, block)?;
    let describe = |value| outcome.values.describe(value);
    match found == expected {
        true => Ok(()),
        false => Err(Fault::Result(run, describe(found), describe(expected))),
    }
}

fn check_reduction(
    outcome: &Outcome,
    ordered: bool,
    rank: usize,
    block: usize,
    ranks: Range<usize>,
) -> Result<(), Fault> {
    let (run, found) = result(outcome, rank, block)?;
    let values = &outcome.values;
    if values.block(found) != block || !values.is_complete(found, ranks.clone()) {
        let expected = format!("block {block} of ranks {} to {}", ranks.start, ranks.end - 1);
        return Err(Fault::Result(run, values.describe(found), expected));
    }
    match ordered && !values.is_ascending(found) {
        true => Err(Fault::Order(run, values.describe(found))),
        false => Ok(()),
    }
}

/// All ranks of a group must have come to the result by the same expression as its first one, so that floating-point
/// results agree bit for bit.
fn check_alike(outcome: &Outcome, rank: usize, block: usize, first: usize) -> Result<(), Fault> {
    let ((run, found), (_, first)) = (result(outcome, rank, block)?, result(outcome, first, block)?);
    match outcome.values.are_alike(found, first) {
        true => Ok(()),
        false => Err(Fault::Association(run, outcome.values.describe(found), outcome.values.describe(first))),
    }
}

fn result(outcome: &Outcome, rank: usize, block: usize) -> Result<(Run, Value), Fault> {
    let run = Buffer::Recv.block(block);
    Ok((run, outcome.memories[rank].read(run)?))
}
