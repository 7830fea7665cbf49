//! Explains runs for tests.

use super::super::{explain, facts};
use crate::trace::Subjects;
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::trace::Trace;

fn with<T>(collective: Collective, name: &str, problem: &Problem, ask: impl Fn(&Subjects, &Trace) -> T) -> T {
    let algorithm = collective.algorithm(name).unwrap();
    let schedules = algorithm.programs(problem);
    let subjects = Subjects { collective, algorithm: Some(algorithm), problem, schedules: &schedules };
    ask(&subjects, &Trace::new(collective, problem, &schedules).unwrap())
}

/// Returns the explanation of a step: its title, then a line for each sentence, with its formula after a bar.
pub fn step(collective: Collective, name: &str, problem: &Problem, step: usize) -> Vec<String> {
    with(collective, name, problem, |subjects, trace| {
        let explained = explain(subjects, trace, step);
        let line = |said: &crate::trace::Sentence| match &said.formula {
            Some(formula) => format!("{} | {formula}", said.text),
            None => said.text.clone(),
        };
        [explained.title].into_iter().chain(explained.sentences.iter().map(line)).collect()
    })
}

/// Returns the titles of all steps.
pub fn titles(collective: Collective, name: &str, problem: &Problem) -> Vec<String> {
    with(collective, name, problem, |subjects, trace| {
        (0..trace.steps.len()).map(|step| explain(subjects, trace, step).title).collect()
    })
}

/// Returns the facts about the run as a whole.
pub fn of_run(collective: Collective, name: &str, problem: &Problem) -> Vec<String> {
    with(collective, name, problem, facts)
}
