//! `rustcoll schedule`

use crate::command_line::{ScheduleOptions, Whose};
use crate::failure::{Failure, Outcome};
use crate::problem::{algorithm, below, problem};
use rustcoll::engine::{Goal, Plan, is_expressible_in_goal};
use std::io::Write;

/// Prints schedules.
pub fn run(options: &ScheduleOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let algorithm = algorithm(options.collective, &options.algorithm)?;
    let problem = problem(algorithm, &options.problem)?;
    if let Some(bytes) = options.bytes {
        if !is_expressible_in_goal(&algorithm.program(&problem, 0)) {
            let (collective, name) = (algorithm.collective.name(), algorithm.name);
            return Err(Failure::Usage(format!(
                "--goal: {collective} {name} uses shared memory, which GOAL does not know; without --goal its steps are printed"
            )));
        }
        let plan = |rank| Plan::of_even_call(algorithm, &problem, rank, bytes);
        write!(output, "{}", Goal { ranks: problem.size, plan })?;
        return Ok(Outcome::Right);
    }
    let ranks = match options.rank {
        Whose::All => 0..problem.size,
        Whose::Rank(rank) => rank..below(rank, problem.size, "rank")? + 1,
    };
    for rank in ranks.clone() {
        let separator = if rank == ranks.start { "" } else { "\n" };
        write!(output, "{separator}{}", algorithm.program(&problem, rank))?;
    }
    Ok(Outcome::Right)
}
