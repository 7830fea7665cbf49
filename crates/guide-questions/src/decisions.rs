//! What rules decide, by ranks and bytes.

use crate::failure::{Failure, TextPlace};
use crate::prices::{ChosenParameters, label};
use crate::problem::{collective, drawn};
use rustcoll::algorithms::Collective;
use rustcoll::selection::{BUILT_IN_NAME, BUILT_IN_TEXT, Call, Decision, Note, Rules};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use ts_rs::TS;

/// Rules and where they are asked.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct DecisionsQuestion {
    /// The collective's name.
    pub collective: String,
    /// The rules; none are the default ones.
    pub rules: Option<RulesText>,
    /// Numbers of ranks.
    pub ranks: Vec<usize>,
    /// How many ranks share a node.
    pub ranks_per_node: usize,
}

/// A rule file.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct RulesText {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What the rules decide.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Decisions {
    /// What the rules are called.
    pub name: String,
    /// Their text.
    pub text: String,
    /// The rules that decide anything here.
    pub regions: Vec<Region>,
    /// For each number of ranks its pieces, from the fewest bytes to the most.
    pub columns: Vec<Vec<Piece>>,
    /// What should be known of the rules.
    pub notes: Vec<TextPlace>,
}

/// A rule that decides something.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Region {
    /// What it chooses, as it says it.
    pub label: String,
    /// The algorithm; none, if it leaves the call to the component below.
    pub algorithm: Option<String>,
    /// The parameters that it sets.
    pub parameters: ChosenParameters,
    /// Its line in the text, from 1; none, if no rule matches, which leaves the call to the component below.
    pub line: Option<usize>,
}

/// A range of bytes in which one rule decides; it ends where the next one begins.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Piece {
    /// The fewest bytes.
    pub bytes: f64,
    /// Number of the region.
    pub region: usize,
}

/// The most ranks that a job has.
const MOST_RANKS: usize = 1 << 24;

/// No map is wider.
const MOST_COLUMNS: usize = 4096;

impl DecisionsQuestion {
    /// Asks the rules.
    pub fn answer(&self) -> Result<Decisions, Failure> {
        let collective = collective(&self.collective)?;
        drawn("ranks_per_node", self.ranks_per_node, 1..=MOST_RANKS)?;
        drawn("ranks_asked", self.ranks.len(), 0..=MOST_COLUMNS)?;
        self.ranks.iter().try_for_each(|&ranks| drawn("ranks", ranks, 1..=MOST_RANKS))?;
        let (name, text) = match &self.rules {
            None => (BUILT_IN_NAME, BUILT_IN_TEXT),
            Some(RulesText { name, text }) => (name.as_str(), text.as_str()),
        };
        let rules = match &self.rules {
            None => Cow::Borrowed(Rules::built_in()),
            Some(_) => Cow::Owned(Rules::parse(name, text)?),
        };
        let mut found: Vec<Decision> = Vec::new();
        let columns = self.ranks.iter().map(|&ranks| {
            let pieces = rules.decisions(&self.call(collective, ranks));
            let piece = |piece: rustcoll::selection::Piece| Piece {
                bytes: *piece.bytes.start() as f64,
                region: number(&mut found, piece.decision),
            };
            pieces.into_iter().map(piece).collect()
        });
        let columns = columns.collect();
        Ok(Decisions {
            name: name.into(),
            text: text.into(),
            regions: found.iter().map(Region::of).collect(),
            columns,
            notes: rules.notes().iter().map(place).collect(),
        })
    }

    fn call(&self, collective: Collective, ranks: usize) -> Call {
        let nodes = ranks.div_ceil(self.ranks_per_node);
        Call {
            root: collective.is_rooted().then_some(0),
            is_on_several_nodes: nodes > 1,
            nodes: Some(nodes),
            ranks_per_node: Some(self.ranks_per_node.min(ranks)),
            ..Call::new(collective, ranks, 0)
        }
    }
}

/// The number of a decision, a new one if it was not met yet.
fn number(found: &mut Vec<Decision>, decision: Decision) -> usize {
    let known = found.iter().position(|other| *other == decision);
    known.unwrap_or_else(|| {
        found.push(decision);
        found.len() - 1
    })
}

fn place(note: &Note) -> TextPlace {
    TextPlace { line: note.origin.line, column: note.origin.column, message: note.message.clone() }
}

impl Region {
    fn of(decision: &Decision) -> Region {
        let algorithm = decision.choice.algorithm().map(|algorithm| algorithm.name);
        Region {
            label: label(algorithm.unwrap_or("below"), decision.choice.parameters()),
            algorithm: algorithm.map(str::to_string),
            parameters: ChosenParameters::of(decision.choice.parameters()),
            line: decision.origin.as_ref().map(|origin| origin.line),
        }
    }
}
