//! The verifier: proves for one problem that the schedules of all ranks together perform their collective.
//!
//! First each program is checked on its own (`program`), then every send is paired with its receive
//! (`matching`). Then all ranks are run symbolically (`execution`): blocks hold values that know which inputs
//! they were made of (`values`). Finally the values in the receive buffers are compared with what the
//! collective promises (`contract`). Ranks must know the lengths of what they move. Programs whose ranks
//! learn lengths of blocks first must satisfy more (`lengths`).
//!
//! No receive has a wildcard, data is captured when it is sent, and messages and flags impose an order
//! (`clock`) on the reads and writes of shared slots (`slots`). So the outcome does not depend on the order
//! in which the ranks are run: one run stands for all.

#![forbid(unsafe_code)]

mod all;
mod clock;
mod contract;
mod execution;
mod expressions;
mod graphs;
mod lengths;
mod matching;
mod memory;
mod mock_up;
mod problems;
mod program;
mod slots;
mod values;
mod violation;

pub use all::check_all;
pub use expressions::{Expression, Expressions};
pub use graphs::{graphs, grids, multigraphs, stencils};
pub use mock_up::verify_calls;
pub use problems::problems;
pub use violation::{Fault, Misfit, Violation};

use crate::algorithms::{Algorithm, Collective, Problem, Requirement};
use crate::schedule::Schedule;
use execution::Outcome;

/// The number of this verifier, which certificates of schedule files hold. Raise it with each change by which the verifier,
/// or the reader of schedule files, takes what it refused or refuses what it took.
pub const NUMBER: u32 = 1;

/// Verifies the schedules that an algorithm makes for a problem.
pub fn verify(algorithm: &Algorithm, problem: &Problem) -> Result<(), Violation> {
    verify_programs(algorithm, problem, &algorithm.programs(problem))
}

/// Verifies the schedules of all ranks, rank 0's first, that an algorithm has made for a problem.
pub fn verify_programs(
    algorithm: &Algorithm,
    problem: &Problem,
    schedules: &[Schedule],
) -> Result<(), Violation> {
    verify_schedules(algorithm.contract(), problem, algorithm.keeps_order(), schedules)?;
    verify_lengths(algorithm.requires, schedules)?;
    lengths::check_arguments(algorithm, problem, &Schedule::all_unrolled(schedules))
}

/// Verifies the schedules of all ranks, rank 0 first. With `ordered` the operands of a reduction must be combined in
/// the order of their ranks.
pub fn verify_schedules(
    collective: Collective,
    problem: &Problem,
    ordered: bool,
    schedules: &[Schedule],
) -> Result<(), Violation> {
    let outcome = run(collective, problem, schedules)?;
    contract::check(collective, problem, ordered, &outcome)
}

/// Returns the expressions by which an algorithm comes to its results: the rank and the expression of each
/// block.
pub fn expressions(
    algorithm: &Algorithm,
    problem: &Problem,
    known: &mut Expressions,
) -> Result<Vec<(usize, Expression)>, Violation> {
    let outcome = run(algorithm.contract(), problem, &algorithm.programs(problem))?;
    let reductions = contract::reductions(algorithm.contract(), problem, &outcome)?;
    Ok(reductions.into_iter().map(|(rank, value)| (rank, known.of(&outcome.values, value))).collect())
}

/// Checks the program of each rank by itself, rank 0's first: its header, its posts and waits, and the blocks it names.
pub fn check_programs(
    collective: Collective,
    problem: &Problem,
    schedules: &[Schedule],
) -> Result<(), Violation> {
    program::check(collective, problem, &Schedule::all_unrolled(schedules))
}

fn run(collective: Collective, problem: &Problem, schedules: &[Schedule]) -> Result<Outcome, Violation> {
    let schedules = &Schedule::all_unrolled(schedules);
    program::check(collective, problem, schedules)?;
    let matching = matching::match_posts(collective, schedules)?;
    execution::run(collective, problem, schedules, &matching)
}

/// Checks that a program needs only the lengths of blocks that the rank's arguments contain.
pub fn check_lengths(
    collective: Collective,
    problem: &Problem,
    schedule: &Schedule,
) -> Result<(), Violation> {
    lengths::check_ends(collective, problem, schedule)
}

/// Verifies that the schedules of all ranks can be executed with the lengths of blocks that these requirements provide.
pub fn verify_lengths(requires: &[Requirement], schedules: &[Schedule]) -> Result<(), Violation> {
    lengths::check(requires, &Schedule::all_unrolled(schedules))
}
