//! Simulated times of the algorithms of a collective on a machine.

use crate::failure::Failure;
use crate::machine::MachineInput;
use crate::problem::{MOST_BYTES, collective, drawn};
use rustcoll::algorithms::Parameter;
use rustcoll::atlas::{Atlas, Candidate, Point, Sweep};
use rustcoll::selection::Parameters;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Asks for the times of a collective's algorithms on one number of ranks, for several lengths.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct PricesQuestion {
    pub collective: String,
    pub machine: MachineInput,
    pub ranks: usize,
    /// Bytes, by the collective's measure; ascending.
    pub bytes: Vec<usize>,
    /// Whether to try several values of each parameter besides the defaults.
    pub sweep: bool,
}

/// The times of all candidates.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Prices {
    pub candidates: Vec<PricedCandidate>,
}

/// An algorithm with parameters, and its times.
#[derive(Clone, Debug, Serialize, TS)]
pub struct PricedCandidate {
    pub algorithm: String,
    /// The algorithm and its parameters that differ from the defaults, as in a rule.
    pub label: String,
    pub parameters: ChosenParameters,
    /// Seconds for each length of the question; none where the candidate cannot serve.
    pub seconds: Vec<Option<f64>>,
}

/// Parameters of an algorithm that are not left at their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, TS)]
pub struct ChosenParameters {
    pub radix: Option<usize>,
    /// In bytes.
    pub segment: Option<usize>,
    pub window: Option<usize>,
}

/// More ranks take too long while the user waits. Also, the bytes of all ranks together must fit in 32 bits.
const MOST_PRICED_RANKS: usize = 512;

/// No map of the page is higher.
const MOST_LENGTHS: usize = 64;

impl PricesQuestion {
    /// Returns the times of all candidates. Fails if an input is out of range or the simulation fails.
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
    /// Takes the parameters that are not left at their defaults.
    pub fn of(parameters: Parameters) -> ChosenParameters {
        ChosenParameters {
            radix: parameters.get(Parameter::Radix),
            segment: parameters.get(Parameter::Segment),
            window: parameters.get(Parameter::Window),
        }
    }
}

/// Returns a choice in the words of a rule: `ALGORITHM PARAMETER=VALUE …`.
pub fn label(algorithm: &str, parameters: Parameters) -> String {
    let given = parameters.given().map(|(parameter, value)| format!(" {}={value}", parameter.name()));
    [algorithm.to_string()].into_iter().chain(given).collect()
}
