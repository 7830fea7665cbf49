//! Schedules as text.

use crate::failure::Failure;
use crate::problem::{MOST_BYTES, Subject, drawn};
use rustcoll::algorithms::{Algorithm, Calls, Problem};
use rustcoll::engine::{Goal, Plan, is_expressible_in_goal};
use serde::Deserialize;
use ts_rs::TS;

/// Asks for an algorithm's schedules as text.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct ScheduleQuestion {
    pub subject: Subject,
    pub form: Form,
    /// Bytes, by the collective's measure; only GOAL uses them.
    pub bytes: usize,
}

/// A language for schedules.
#[derive(Clone, Copy, Debug, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// rustcoll's own text form, which rustcoll also reads.
    Text,
    /// GOAL, the input of LogGOPSim and ATLAHS.
    Goal,
}

/// Returns the schedules of all ranks. Fails if the algorithm cannot serve, or GOAL cannot express it.
pub fn text(question: &ScheduleQuestion) -> Result<String, Failure> {
    let (algorithm, problem) = question.subject.read()?;
    match (algorithm.calls(), question.form) {
        (Some(calls), Form::Text) => Ok(of_calls(calls, &problem)),
        (Some(_), Form::Goal) => {
            let name = algorithm.name;
            Err(Failure::new(format!("{name} calls other collectives, and has no messages of its own")))
        }
        (None, Form::Text) => {
            let text = |rank| algorithm.program_with_loops(&problem, rank).to_string();
            Ok((0..problem.size).map(text).collect::<Vec<_>>().join("\n"))
        }
        (None, Form::Goal) => goal(algorithm, &problem, question.bytes),
    }
}

fn goal(algorithm: &Algorithm, problem: &Problem, bytes: usize) -> Result<String, Failure> {
    drawn("bytes", bytes, 0..=MOST_BYTES)?;
    if !is_expressible_in_goal(&algorithm.program(problem, 0)) {
        let name = algorithm.name;
        return Err(Failure::new(format!("{name} uses shared memory, which GOAL does not know")));
    }
    let plan = |rank| Plan::of_even_call(algorithm, problem, rank, bytes);
    Ok(Goal { ranks: problem.size, plan }.to_string())
}

/// Returns what each rank does, for an algorithm that calls other collectives.
pub fn acts(calls: &Calls, problem: &Problem) -> Vec<Vec<String>> {
    let of_rank = |rank| (calls.acts)(problem, rank).iter().map(|act| act.to_string()).collect();
    (0..problem.size).map(of_rank).collect()
}

fn of_calls(calls: &Calls, problem: &Problem) -> String {
    let program = |(rank, acts): (usize, Vec<String>)| {
        let lines: String = acts.iter().map(|act| format!("  {act}\n")).collect();
        format!("rank {rank} of {}\n{lines}", problem.size)
    };
    acts(calls, problem).into_iter().enumerate().map(program).collect()
}
