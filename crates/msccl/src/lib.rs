//! Algorithms in MSCCL's XML, which SCCL, TACCL, TE-CCL and MSCCLang write: reads them and makes schedule files of them, and writes schedules so.
//!
//! There, each GPU has threadblocks that work at the same time. A threadblock does its steps one after the other, and sends to one GPU and receives
//! from one. A step may wait for a step of another threadblock. Here, a rank has one program. So the threadblocks of all GPUs are carried out
//! together ([`order`]), and each rank's program does what its threadblocks did in that order ([`programs`]). The verifier proves what comes out.

mod envelopes;
mod export;
mod order;
mod programs;
mod xml;

pub use export::export;
use order::Order;
use rustcoll::schedule_file::{Disproof, Misread, Place, Proved, ScheduleFile, Title, file};
use rustcoll::selection::LONGEST_TEXT;
use std::fmt;
use xml::Algorithm;

/// A schedule file made of a text.
#[derive(Debug)]
pub struct Imported {
    /// The file.
    pub text: String,
    /// What was read of it, and proved.
    pub proved: Proved,
    /// How many parts of a rank's block take the same way in the original. Here they travel together.
    pub parts: usize,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text is not such an algorithm.
    Misread(Misread),
    /// It is one that a schedule file has no words for, or the fault has its place in the message.
    Inexpressible(String),
    /// What the text does is wrong. The verifier's message, with the places in the text.
    Wrong(String),
}

/// Makes a schedule file of a text. Its algorithm has the given name, or the one that the text has.
pub fn import(text: &str, name: Option<&str>) -> Result<Imported, Refusal> {
    let algorithm = Algorithm::read(text).map_err(Refusal::Misread)?;
    let order = Order::of(&algorithm).map_err(Refusal::Misread)?;
    let parts = algorithm.parts();
    if (1..parts).any(|part| order.ways(part) != order.ways(0)) {
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
        let line = |place: &Place| {
            let step = place.step.as_ref().and_then(|(step, _)| lines[place.rank].get(*step));
            step.map_or_else(|| format!("GPU {}", place.rank), |line| format!("line {line}"))
        };
        proved(file(&title, &programs), parts, |misread| misread.message, line)
    };
    let mut refusal = None;
    // The first that is right. Messages that leave and are awaited at the same time are one, unless one needs what another one brings.
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

/// Proves a schedule file that was made of another text. `misread` says what is wrong with it as a text, and `at` where a place is, both in terms of
/// the other text.
pub fn proved(
    text: String,
    parts: usize,
    misread: impl Fn(Misread) -> String,
    at: impl Fn(&Place) -> String,
) -> Result<Imported, Refusal> {
    let length = text.len();
    if length > LONGEST_TEXT {
        return Err(Refusal::Inexpressible(format!(
            "as a schedule file this has {length} bytes, and at most {LONGEST_TEXT} are read"
        )));
    }
    let read = ScheduleFile::read(&text).map_err(|fault| Refusal::Inexpressible(misread(fault)))?;
    let title = read.title();
    let told = |disproof: Box<Disproof>| disproof.told(&at(&disproof.places[0]), &title, &at);
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
