//! Registered algorithms as files: to begin with, and to compare with.

use super::head::FIRST_LINE;
use crate::algorithms::{Algorithm, Collective, Cut, Problem, Requirement};
use crate::schedule::Schedule;
use std::fmt::Write;

/// The file of an algorithm's programs for a problem of one of its collectives. Its name says that it is the user's now. An error: why there
/// can be none.
pub fn file_of(algorithm: &Algorithm, collective: Collective, problem: &Problem) -> Result<String, String> {
    let refusal =
        |lack| format!("{} {} cannot be written as a file: {lack}", collective.name(), algorithm.name);
    if let Some(lack) = lack(algorithm, problem) {
        return Err(refusal(lack));
    }
    let mut text = format!("{FIRST_LINE}\ncollective {}\nname my_{}\n", collective.name(), algorithm.name);
    if collective.is_rooted() {
        let _ = writeln!(text, "root {}", problem.root);
    }
    if collective.reduces() && !algorithm.keeps_order() {
        text.push_str("needs commutative\n");
    }
    let _ = writeln!(text, "source {}", algorithm.source);
    let programs: Vec<Schedule> =
        (0..problem.size).map(|rank| algorithm.program_with_loops(problem, rank)).collect();
    if programs.iter().any(|program| program.slots > 0) && problem.nodes.number() > 1 {
        return Err(refusal("it shares memory on several nodes"));
    }
    programs.iter().for_each(|program| {
        let _ = write!(text, "\n{program}");
    });
    Ok(text)
}

/// What of an algorithm a file has no words for.
fn lack(algorithm: &Algorithm, problem: &Problem) -> Option<&'static str> {
    match algorithm {
        _ if algorithm.is_mock_up() => Some("it calls other collectives"),
        _ if algorithm.contract().cut() == Cut::Edges => Some("it depends on the neighbours of each rank"),
        _ if problem.remote > 0 => Some("it is for two groups"),
        _ if problem.in_place => Some("programs in files are for calls that are not in place"),
        _ if algorithm.requires.iter().any(Requirement::is_of_lengths) => {
            Some("its ranks tell each other the lengths of blocks first")
        }
        _ => None,
    }
}
