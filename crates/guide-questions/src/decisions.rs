//! Which rule decides, by ranks and bytes.

use crate::catalog::described;
use crate::failure::{Failure, TextPlace};
use crate::prices::{ChosenParameters, label};
use crate::problem::{collective, drawn};
use rustcoll::algorithms::Collective;
use rustcoll::selection::{
    BUILT_IN_NAME, BUILT_IN_TEXT, Call, Measure, Neighbourhood, Note, Origin, RuledChoice, Rules,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use ts_rs::TS;

/// Asks which rules decide about a collective on these numbers of ranks.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct DecisionsQuestion {
    pub collective: String,
    /// None for the default rules.
    pub rules: Option<RulesText>,
    /// The answer has a column for each of these numbers.
    pub ranks: Vec<usize>,
    pub ranks_per_node: usize,
    /// Whether messages between nodes go by TCP.
    pub tcp: bool,
    /// The neighbours of each rank in a neighbourhood collective. None on a graph that is no grid.
    pub grid: Option<GridNeighbours>,
}

/// What ranks on a grid have in common: each has its neighbours at the same offsets.
#[derive(Clone, Copy, Debug, Deserialize, TS)]
pub struct GridNeighbours {
    /// The neighbours of a rank away from borders.
    pub neighbours: usize,
    /// The number of dimensions in which there are neighbours.
    pub dimensions: usize,
}

/// A rule file.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct RulesText {
    pub name: String,
    pub text: String,
}

/// The map of the decisions of a set of rules.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Decisions {
    /// Name of the rules.
    pub name: String,
    /// Text of the rules.
    pub text: String,
    /// What "bytes" means for the calls of the map; none if rules cannot ask for bytes.
    pub measure: Option<String>,
    /// The rules that decide somewhere on this map.
    pub regions: Vec<Region>,
    /// For each number of ranks, its pieces in ascending order of bytes.
    pub columns: Vec<Vec<DecidedBytes>>,
    /// Notes that a user of these rules should read.
    pub notes: Vec<TextPlace>,
}

/// A rule that decides somewhere on the map.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Region {
    /// The rule's choice, in the words of the rule.
    pub label: String,
    /// None if the rule leaves the call to the component below.
    pub algorithm: Option<String>,
    /// The parameters that the rule sets.
    pub parameters: ChosenParameters,
    /// Line of the rule in the text, from 1. None if no rule matches; then the call falls back.
    pub line: Option<usize>,
}

/// A range of bytes in which one rule decides; it ends where the next one begins.
#[derive(Clone, Debug, Serialize, TS)]
pub struct DecidedBytes {
    /// Lower end of the range.
    pub bytes: f64,
    /// Index in [`Decisions::regions`].
    pub region: usize,
}

/// No question may ask for more ranks.
const MOST_RANKS: usize = 1 << 24;

/// No map of the page is wider.
const MOST_COLUMNS: usize = 4096;

/// No rank of the page has more neighbours.
const MOST_NEIGHBOURS: usize = 1 << 12;

impl DecisionsQuestion {
    /// Returns what the rules decide. Fails if the rules do not parse or a number is out of range.
    pub fn answer(&self) -> Result<Decisions, Failure> {
        let collective = collective(&self.collective)?;
        drawn("ranks_per_node", self.ranks_per_node, 1..=MOST_RANKS)?;
        drawn("ranks_asked", self.ranks.len(), 0..=MOST_COLUMNS)?;
        self.ranks.iter().try_for_each(|&ranks| drawn("ranks", ranks, 1..=MOST_RANKS))?;
        if let Some(GridNeighbours { neighbours, dimensions }) = self.grid {
            drawn("neighbours", neighbours, 1..=MOST_NEIGHBOURS)?;
            drawn("dimensions", dimensions, 1..=neighbours)?;
        }
        let (name, text) = match &self.rules {
            None => (BUILT_IN_NAME, BUILT_IN_TEXT),
            Some(RulesText { name, text }) => (name.as_str(), text.as_str()),
        };
        let rules = match &self.rules {
            None => Cow::Borrowed(Rules::built_in()),
            Some(_) => Cow::Owned(Rules::parse(name, text)?),
        };
        let measure = match self.grid {
            Some(_) => Measure::on_stencils(collective),
            None => Measure::of(collective),
        };
        let mut found = Found::default();
        let columns = self.ranks.iter().map(|&ranks| {
            let pieces = rules.decisions(&self.call(collective, ranks));
            let piece = |piece: rustcoll::selection::DecidedBytes| DecidedBytes {
                bytes: *piece.bytes.start() as f64,
                region: found.number(piece.decision),
            };
            pieces.into_iter().map(piece).collect()
        });
        let columns = columns.collect();
        Ok(Decisions {
            name: name.into(),
            text: text.into(),
            measure: described(measure),
            regions: found.decisions.iter().map(Region::of).collect(),
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
            goes_by_tcp: self.tcp,
            neighbourhood: self.grid.map(Neighbourhood::from),
            ..Call::new(collective, ranks, 0)
        }
    }
}

/// Decisions, each once.
#[derive(Default)]
struct Found {
    decisions: Vec<RuledChoice>,
    /// Where the decisions of a rule are. A line of a foreign file may stand for rules with different choices.
    by_rule: HashMap<Option<Origin>, Vec<usize>>,
}

impl Found {
    /// Returns the index of a decision. Appends the decision if it is new.
    fn number(&mut self, decision: RuledChoice) -> usize {
        let of_rule = self.by_rule.entry(decision.origin.clone()).or_default();
        let known = of_rule.iter().copied().find(|&number| self.decisions[number] == decision);
        known.unwrap_or_else(|| {
            of_rule.push(self.decisions.len());
            self.decisions.push(decision);
            self.decisions.len() - 1
        })
    }
}

impl From<GridNeighbours> for Neighbourhood {
    fn from(GridNeighbours { neighbours, dimensions }: GridNeighbours) -> Neighbourhood {
        Neighbourhood { neighbours, dimensions }
    }
}

fn place(note: &Note) -> TextPlace {
    TextPlace { line: note.origin.line, column: note.origin.column, message: note.message.clone() }
}

impl Region {
    fn of(decision: &RuledChoice) -> Region {
        let algorithm = decision.choice.algorithm().map(|algorithm| algorithm.name);
        Region {
            label: label(algorithm.unwrap_or("below"), decision.choice.parameters()),
            algorithm: algorithm.map(str::to_string),
            parameters: ChosenParameters::of(decision.choice.parameters()),
            line: decision.origin.as_ref().map(|origin| origin.line),
        }
    }
}
