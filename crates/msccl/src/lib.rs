//! Converts algorithms in MSCCL's XML to schedule files, and schedules to this XML. SCCL, TACCL, TE-CCL and
//! MSCCLang write it.
//!
//! In MSCCL, each GPU has threadblocks that work at the same time. A threadblock does its steps one after
//! another, sends to one GPU and receives from one GPU. A step may wait for a step of another threadblock. In
//! rustcoll, a rank has one program. `order` runs the threadblocks of all GPUs together. `programs` makes
//! each rank's program from that order. The verifier proves the result.

mod envelopes;
mod export;
mod order;
mod programs;
mod xml;

pub use export::export;
use order::Order;
use rustcoll::schedule_file::{Disproof, FaultyLine, Misread, Proved, ScheduleFile, Title, file};
use rustcoll::selection::LONGEST_TEXT;
use std::fmt;
use xml::Algorithm;

/// A schedule file made from an MSCCL text.
#[derive(Debug)]
pub struct Imported {
    pub text: String,
    /// The verified content of the file.
    pub proved: Proved,
    /// Into how many parts the original cuts each rank's block. All parts take the same way, so the schedule
    /// file moves whole blocks.
    pub parts: usize,
}

/// Why a text cannot become a schedule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text is not a valid algorithm.
    Misread(Misread),
    /// A schedule file cannot express the algorithm. Also any other fault whose message names its place.
    Inexpressible(String),
    /// The algorithm is wrong: the verifier's message, with places in the text.
    Wrong(String),
}

/// Makes a schedule file from an MSCCL text. `name` overrides the algorithm's name in the text.
pub fn import(text: &str, name: Option<&str>) -> Result<Imported, Refusal> {
    let algorithm = Algorithm::read(text).map_err(Refusal::Misread)?;
    let order = Order::of(&algorithm).map_err(Refusal::Misread)?;
    let parts = algorithm.parts();
    if parts > 1 && order.by_part(&algorithm).windows(2).any(|ways| ways[0] != ways[1]) {
        return Err(Refusal::Inexpressible(format!(
            "the {parts} parts of each rank's block take different ways; in a schedule file a block travels whole"
        )));
    }
    let name = name.map_or_else(|| algorithm.own_name(), str::to_owned);
    let made = |needs_commutative, few_messages| {
        let (programs, lines): (Vec<_>, Vec<_>) =
            programs::of(&algorithm, &order, few_messages).into_iter().unzip();
        let title = Title {
            collective: algorithm.collective,
            name: &name,
            root: None,
            needs_commutative,
            source: Some("MSCCL's XML"),
        };
        let line = |place: &FaultyLine| {
            let step = place.step.as_ref().and_then(|(step, _)| lines[place.rank].get(*step));
            step.map_or_else(|| format!("GPU {}", place.rank), |line| format!("line {line}"))
        };
        proved(file(&title, &programs), parts, |misread| misread.message, line)
    };
    let mut refusal = None;
    // Takes the first correct variant. Messages that leave and are awaited together become one message,
    // unless one of them depends on another.
    for (needs_commutative, few_messages) in [(false, true), (false, false), (true, true), (true, false)] {
        if needs_commutative && !algorithm.collective.reduces() {
            continue;
        }
        match made(needs_commutative, few_messages) {
            Ok(imported) => return Ok(imported),
            Err(wrong) => refusal = Some(wrong),
        }
    }
    Err(refusal.expect("the first two ways are tried for all collectives"))
}

/// Proves a schedule file that was made from another text. `misread` describes a fault of the schedule file,
/// and `at` describes a place; both do so in terms of the other text.
pub fn proved(
    text: String,
    parts: usize,
    misread: impl Fn(Misread) -> String,
    at: impl Fn(&FaultyLine) -> String,
) -> Result<Imported, Refusal> {
    let length = text.len();
    if length > LONGEST_TEXT {
        return Err(Refusal::Inexpressible(format!(
            "as a schedule file this has {length} bytes, and at most {LONGEST_TEXT} are read"
        )));
    }
    let read = ScheduleFile::read(&text).map_err(|fault| Refusal::Inexpressible(misread(fault)))?;
    let title = read.title();
    let told = |disproof: Box<Disproof>| disproof.told(&at(&disproof.lines[0]), &title, &at);
    let proved = read.prove().map_err(|disproof| Refusal::Wrong(told(disproof)))?;
    Ok(Imported { text, proved, parts })
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refusal::Misread(misread) => misread.fmt(formatter),
            Refusal::Inexpressible(lack) => formatter.write_str(lack),
            Refusal::Wrong(violation) => formatter.write_str(violation),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests;
