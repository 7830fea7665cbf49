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
use rustcoll::algorithms::Collective;
use rustcoll::schedule_file::{Misread, Title, file, prove};
use std::fmt;
use xml::Algorithm;

/// A schedule file made of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The file.
    pub text: String,
    /// What it performs.
    pub collective: Collective,
    /// Its algorithm's name.
    pub name: String,
    /// For how many ranks it is.
    pub ranks: usize,
    /// How many parts of a rank's block take the same way in the original. Here they travel together.
    pub parts: usize,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text is not such an algorithm.
    Misread(Misread),
    /// It is one that a schedule file has no words for.
    Inexpressible(String),
    /// What the text does is wrong. The verifier's message.
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
    let ranks = algorithm.gpus.len();
    let written = |needs_commutative, few_messages| {
        let title = Title {
            collective: algorithm.collective,
            name: &name,
            root: None,
            needs_commutative,
            source: Some("MSCCL's XML"),
        };
        file(&title, &programs::of(&algorithm, &order, few_messages))
    };
    let mut wrong = String::new();
    // The first that is right. Messages that leave and are awaited at the same time are one, unless one needs what another one brings.
    for (needs_commutative, few_messages) in [(false, true), (false, false), (true, true), (true, false)] {
        if needs_commutative && !algorithm.collective.reduces() {
            continue;
        }
        let text = written(needs_commutative, few_messages);
        match prove(&name, &text) {
            Ok(_) => return Ok(Imported { text, collective: algorithm.collective, name, ranks, parts }),
            Err(violation) => wrong = violation,
        }
    }
    Err(Refusal::Wrong(wrong))
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
