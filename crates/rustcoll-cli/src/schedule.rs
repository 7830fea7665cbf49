//! `rustcoll schedule`

use crate::command_line::{ScheduleOptions, Whose};
use crate::failure::{Failure, Outcome};
use crate::problem::{algorithm, below, problem};
use crate::schedule_json;
use msccl::export;
use rustcoll::algorithms::{Algorithm, Calls, Collective, Problem};
use rustcoll::engine::{Goal, Plan, is_expressible_in_goal};
use rustcoll::schedule_file::{ScheduleFile, file_of, lack};
use std::io::Write;
use std::ops::Range;

/// Prints schedules.
pub fn run(options: &ScheduleOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let algorithm = algorithm(options.collective, &options.algorithm)?;
    let problem = problem(algorithm, &options.problem)?;
    let ranks = match options.rank {
        Whose::All => 0..problem.size,
        Whose::Rank(rank) => rank..below(rank, problem.size, "rank")? + 1,
    };
    if options.file || options.json {
        let text = file_of(algorithm, options.collective, &problem).map_err(Failure::Usage)?;
        match options.json {
            true => {
                let file = ScheduleFile::read(&text)
                    .map_err(|misread| Failure::Usage(format!("--json: {}", misread.message)))?;
                writeln!(output, "{}", schedule_json::json(&file))?;
            }
            false => write!(output, "{text}")?,
        }
        return Ok(Outcome::Right);
    }
    if options.msccl {
        write!(output, "{}", in_msccl(algorithm, options.collective, &problem).map_err(Failure::Usage)?)?;
        return Ok(Outcome::Right);
    }
    if let Some(calls) = algorithm.calls() {
        if options.bytes.is_some() {
            let name = algorithm.name;
            return Err(Failure::Usage(format!(
                "--goal: {name} calls other collectives, and has no messages of its own"
            )));
        }
        return print_calls(calls, &problem, ranks, output);
    }
    if let Some(bytes) = options.bytes {
        if !is_expressible_in_goal(&algorithm.program(&problem, 0)) {
            let (collective, name) = (algorithm.contract().name(), algorithm.name);
            return Err(Failure::Usage(format!(
                "--goal: {collective} {name} uses shared memory, which GOAL does not know; without --goal its steps are printed"
            )));
        }
        let plan = |rank| Plan::of_even_call(algorithm, &problem, rank, bytes);
        write!(output, "{}", Goal { ranks: problem.size, plan })?;
        return Ok(Outcome::Right);
    }
    for rank in ranks.clone() {
        let separator = if rank == ranks.start { "" } else { "\n" };
        write!(output, "{separator}{}", algorithm.program_with_loops(&problem, rank))?;
    }
    Ok(Outcome::Right)
}

/// Returns the schedules of all ranks in MSCCL's XML. Fails with the reason if MSCCL cannot express them.
fn in_msccl(algorithm: &Algorithm, collective: Collective, problem: &Problem) -> Result<String, String> {
    let programs = || (0..problem.size).map(|rank| algorithm.program(problem, rank)).collect::<Vec<_>>();
    let text = lack(algorithm, problem)
        .map_or_else(|| export(algorithm.name, collective, &programs()), |lack| Err(lack.into()));
    text.map_err(|lack| format!("--msccl: {} {}: {lack}", collective.name(), algorithm.name))
}

/// Prints what ranks do, for an algorithm that calls other collectives.
fn print_calls(
    calls: &Calls,
    problem: &Problem,
    ranks: Range<usize>,
    output: &mut impl Write,
) -> Result<Outcome, Failure> {
    for rank in ranks {
        writeln!(output, "rank {rank} of {}", problem.size)?;
        for act in (calls.acts)(problem, rank) {
            writeln!(output, "  {act}")?;
        }
    }
    Ok(Outcome::Right)
}
