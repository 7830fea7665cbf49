//! Writes schedule files: of programs, and of registered algorithms as a start or for comparison.

use super::head::FIRST_LINE;
use crate::algorithms::{Algorithm, Collective, Cut, Problem, Requirement};
use crate::schedule::Schedule;
use std::fmt::Write;

/// The content of a file's head.
pub struct Title<'a> {
    pub collective: Collective,
    /// The algorithm's name.
    pub name: &'a str,
    /// The root: a number, or "any".
    pub root: Option<&'a str>,
    /// Whether the operator must commute.
    pub needs_commutative: bool,
    /// Who described it.
    pub source: Option<&'a str>,
}

/// Returns the file of the programs of all ranks.
pub fn file(title: &Title, programs: &[Schedule]) -> String {
    let mut text = format!("{FIRST_LINE}\ncollective {}\nname {}\n", title.collective.name(), title.name);
    if let Some(root) = title.root {
        let _ = writeln!(text, "root {root}");
    }
    if title.needs_commutative {
        text.push_str("needs commutative\n");
    }
    if let Some(source) = title.source {
        let _ = writeln!(text, "source {source}");
    }
    programs.iter().for_each(|program| {
        let _ = write!(text, "\n{program}");
    });
    text
}

/// Returns the file of an algorithm's programs for a problem of one of its collectives. The name gets the
/// prefix `my_`. Fails with the reason if a file cannot hold the algorithm.
pub fn file_of(algorithm: &Algorithm, collective: Collective, problem: &Problem) -> Result<String, String> {
    let refusal =
        |lack| format!("{} {} cannot be written as a file: {lack}", collective.name(), algorithm.name);
    if let Some(lack) = lack(algorithm, problem) {
        return Err(refusal(lack));
    }
    let programs: Vec<Schedule> =
        (0..problem.size).map(|rank| algorithm.program_with_loops(problem, rank)).collect();
    if programs.iter().any(|program| program.slots > 0) && problem.nodes.number() > 1 {
        return Err(refusal("it shares memory on several nodes"));
    }
    let (name, root) = (format!("my_{}", algorithm.name), problem.root.to_string());
    let title = Title {
        collective,
        name: &name,
        root: collective.is_rooted().then_some(&root),
        needs_commutative: collective.reduces() && !algorithm.keeps_order(),
        source: Some(algorithm.source),
    };
    Ok(file(&title, &programs))
}

/// Returns why a file of programs cannot hold an algorithm, if it cannot.
pub fn lack(algorithm: &Algorithm, problem: &Problem) -> Option<&'static str> {
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
