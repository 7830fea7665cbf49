//! What each collective starts from and what it must end with.

use super::execution::Outcome;
use super::values::Value;
use super::violation::{Fault, Violation};
use crate::algorithms::{Collective, Problem};
use crate::schedule::{Buffer, Run};

/// The buffer in which a rank's input stands, if it has any.
pub fn input_buffer(collective: Collective, problem: &Problem, rank: usize) -> Option<Buffer> {
    match collective {
        Collective::Bcast => (rank == problem.root).then_some(Buffer::Recv),
        Collective::Allreduce | Collective::Alltoall if problem.in_place => Some(Buffer::Recv),
        Collective::Allreduce | Collective::Alltoall => Some(Buffer::Send),
    }
}

/// Checks that every rank's receive buffer holds what the collective promises.
pub fn check(
    collective: Collective,
    problem: &Problem,
    ordered: bool,
    outcome: &Outcome,
) -> Result<(), Violation> {
    for rank in 0..problem.size {
        for block in 0..outcome.blocks {
            let checked = match collective {
                Collective::Allreduce => check_reduction(outcome, ordered, rank, block),
                Collective::Alltoall => check_equal(outcome, rank, block, outcome.values.input(block, rank)),
                Collective::Bcast => {
                    check_equal(outcome, rank, block, outcome.values.input(problem.root, block))
                }
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

fn check_reduction(outcome: &Outcome, ordered: bool, rank: usize, block: usize) -> Result<(), Fault> {
    let (run, found) = result(outcome, rank, block)?;
    let (_, first) = result(outcome, 0, block)?;
    let values = &outcome.values;
    let describe = |value| values.describe(value);
    if !values.is_complete(found) {
        return Err(Fault::Result(run, describe(found), format!("block {block} of all ranks")));
    }
    if ordered && !values.is_ascending(found) {
        return Err(Fault::Order(run, describe(found)));
    }
    match values.are_alike(found, first) {
        true => Ok(()),
        false => Err(Fault::Association(run, describe(found), describe(first))),
    }
}

fn result(outcome: &Outcome, rank: usize, block: usize) -> Result<(Run, Value), Fault> {
    let run = Buffer::Recv.block(block);
    Ok((run, outcome.memories[rank].read(run)?))
}
