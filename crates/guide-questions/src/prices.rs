//! What the algorithms of a collective cost on a machine, by the simulator.

use crate::failure::Failure;
use crate::machine::MachineInput;
use crate::problem::{collective, drawn};
use rustcoll::algorithms::Parameter;
use rustcoll::atlas::{Atlas, Candidate, Point, Sweep};
use rustcoll::cost::simulation::MOST_BYTES;
use rustcoll::selection::Parameters;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A collective on so many ranks, for several lengths.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct PricesQuestion {
    /// The collective's name.
    pub collective: String,
    /// The machine.
    pub machine: MachineInput,
    /// The number of ranks.
    pub ranks: usize,
    /// Bytes, by the collective's measure; ascending.
    pub bytes: Vec<usize>,
    /// Whether several values of parameters are tried besides the defaults.
    pub sweep: bool,
}

/// What each candidate costs.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Prices {
    /// The candidates, each with its parameters.
    pub candidates: Vec<PricedCandidate>,
}

/// An algorithm with parameters, and what it costs.
#[derive(Clone, Debug, Serialize, TS)]
pub struct PricedCandidate {
    /// The algorithm's name.
    pub algorithm: String,
    /// The algorithm's name and the parameters that are not left at their defaults, as in a rule.
    pub label: String,
    /// Those parameters.
    pub parameters: ChosenParameters,
    /// Seconds for each of the bytes; none where it cannot serve.
    pub seconds: Vec<Option<f64>>,
}

/// Parameters of an algorithm that are not left at their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, TS)]
pub struct ChosenParameters {
    /// The radix.
    pub radix: Option<usize>,
    /// The length of a segment in bytes.
    pub segment: Option<usize>,
    /// The window.
    pub window: Option<usize>,
}

/// More ranks take too long while somebody waits, and all their bytes together could not be counted in a page.
const MOST_PRICED_RANKS: usize = 512;

/// No map is higher.
const MOST_LENGTHS: usize = 64;

impl PricesQuestion {
    /// Prices all candidates.
    pub fn answer(&self) -> Result<Prices, Failure> {
        let collective = collective(&self.collective)?;
        let machine = self.machine.read()?;
        drawn("ranks", self.ranks, 1..=MOST_PRICED_RANKS)?;
        drawn("bytes_asked", self.bytes.len(), 0..=MOST_LENGTHS)?;
        self.bytes.iter().try_for_each(|&bytes| drawn("bytes", bytes, 0..=MOST_BYTES))?;
        let sweep = if self.sweep { Sweep::Parameters } else { Sweep::Defaults };
        let candidates = Candidate::all(collective, sweep);
        if candidates.is_empty() || self.bytes.is_empty() {
            return Ok(Prices { candidates: Vec::new() });
        }
        let atlas =
            Atlas::new(candidates, &machine, vec![self.ranks], self.bytes.clone(), f64::INFINITY, |_| {})
                .map_err(|error| Failure::new(error.to_string()))?;
        let seconds = |number: usize| {
            let time = |bytes| atlas.times(Point { ranks: 0, bytes })[number];
            (0..self.bytes.len()).map(time).map(|time| time.is_finite().then_some(time)).collect()
        };
        let numbered = atlas.candidates.iter().enumerate();
        let priced = numbered.map(|(number, candidate)| PricedCandidate {
            algorithm: candidate.algorithm.name.into(),
            label: label(candidate.algorithm.name, candidate.parameters),
            parameters: ChosenParameters::of(candidate.parameters),
            seconds: seconds(number),
        });
        Ok(Prices { candidates: priced.collect() })
    }
}

impl ChosenParameters {
    /// Those that are not left at their defaults.
    pub fn of(parameters: Parameters) -> ChosenParameters {
        ChosenParameters {
            radix: parameters.get(Parameter::Radix),
            segment: parameters.get(Parameter::Segment),
            window: parameters.get(Parameter::Window),
        }
    }
}

/// A choice as a rule has it.
pub fn label(algorithm: &str, parameters: Parameters) -> String {
    let given = parameters.given().map(|(parameter, value)| format!(" {}={value}", parameter.name()));
    [algorithm.to_string()].into_iter().chain(given).collect()
}
