//! Writes schedule files: of programs, and of registered algorithms as a start or for comparison.

use super::Totals;
use super::head::FIRST_LINE;
use crate::algorithms::{Algorithm, Collective, Cut, Problem, Requirement};
use crate::schedule::Schedule;
use crate::text::LONGEST_TEXT;
use std::fmt::{self, Write};

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

/// Returns the file of the programs of all ranks, however long.
pub fn file(title: &Title, programs: &[Schedule]) -> String {
    let mut text = String::new();
    let mut write = || -> fmt::Result {
        write_head(&mut text, title)?;
        programs.iter().try_for_each(|program| write!(text, "\n{program}"))
    };
    write().expect("a text takes whatever is written");
    text
}

fn write_head(text: &mut impl Write, title: &Title) -> fmt::Result {
    write!(text, "{FIRST_LINE}\ncollective {}\nname {}\n", title.collective.name(), title.name)?;
    if let Some(root) = title.root {
        writeln!(text, "root {root}")?;
    }
    if title.needs_commutative {
        text.write_str("needs commutative\n")?;
    }
    title.source.map_or(Ok(()), |source| writeln!(text, "source {source}"))
}

/// Returns the file of an algorithm's programs for a problem of one of its collectives. The name gets the
/// prefix `my_`. Fails with the reason if a file cannot hold the algorithm, or would be too long to be read.
pub fn file_of(algorithm: &Algorithm, collective: Collective, problem: &Problem) -> Result<String, String> {
    let refusal =
        |lack: &str| format!("{} {} cannot be written as a file: {lack}", collective.name(), algorithm.name);
    if let Some(lack) = lack(algorithm, problem) {
        return Err(refusal(lack));
    }
    let (name, root) = (format!("my_{}", algorithm.name), problem.root.to_string());
    let title = Title {
        collective,
        name: &name,
        root: collective.is_rooted().then_some(&root),
        needs_commutative: collective.reduces() && !algorithm.keeps_order(),
        source: Some(algorithm.source),
    };
    let too_long = |_| refusal(&format!("it would have more than {LONGEST_TEXT} bytes"));
    let (mut text, mut totals) = (Bounded::default(), Totals::default());
    write_head(&mut text, &title).map_err(too_long)?;
    for rank in 0..problem.size {
        let program = algorithm.program_with_loops(problem, rank);
        if program.slots > 0 && problem.nodes.number() > 1 {
            return Err(refusal("it shares memory on several nodes"));
        }
        if let Some((most, things)) = totals.add(&program) {
            return Err(refusal(&format!("it would have more than {most} {things}")));
        }
        write!(text, "\n{program}").map_err(too_long)?;
    }
    Ok(text.0)
}

/// A text of at most [`LONGEST_TEXT`] bytes.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.0.len() + piece.len() > LONGEST_TEXT {
            return Err(fmt::Error);
        }
        self.0.write_str(piece)
    }
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
