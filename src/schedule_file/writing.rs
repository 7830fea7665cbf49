//! Registered algorithms as files: to begin with, and to compare with.

use super::head::FIRST_LINE;
use crate::algorithms::{Algorithm, Cut, Problem, Requirement};
use crate::schedule::Schedule;
use std::fmt::Write;

/// The file of an algorithm's programs for a problem. Its name says that it is the user's now. An error: why there can be none.
pub fn file_of(algorithm: &Algorithm, problem: &Problem) -> Result<String, String> {
    let collective = algorithm.contract();
    if let Some(lack) = lack(algorithm, problem) {
        return Err(format!("{} {} cannot be written as a file: {lack}", collective.name(), algorithm.name));
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
        let (collective, name) = (collective.name(), algorithm.name);
        return Err(format!(
            "{collective} {name} on several nodes shares memory, for which a file has no words"
        ));
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
        _ if learns_lengths(algorithm) => Some("its ranks tell each other the lengths of blocks first"),
        _ => None,
    }
}

fn learns_lengths(algorithm: &Algorithm) -> bool {
    let is_so =
        |required: &Requirement| matches!(required, Requirement::BlockLengths | Requirement::LongestBlock);
    algorithm.requires.iter().any(is_so)
}
