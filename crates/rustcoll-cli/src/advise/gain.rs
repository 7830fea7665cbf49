//! The gain of a better algorithm, as measured or as predicted for a machine.

use super::Calls;
use super::measured::{Measured, Placement};
use crate::command_line::AdviseOptions;
use crate::failure::Failure;
use crate::machine::{USUAL, named_or_usual, title};
use crate::predict::call_on;
use rustcoll::algorithms::{Cut, Problem};
use rustcoll::atlas::{Candidate, Price, Sweep, prices};
use rustcoll::cost::Machine;
use rustcoll::report::CallKind;
use rustcoll::report::profile::Profile;
use rustcoll::selection::{Call, Choice, Measure, Rules};
use std::fmt;

/// Advice names an algorithm only if it takes at most this part of the time of the one that ran.
pub const BETTER: f64 = 0.9;

/// The machine, and how the job uses it.
pub struct Setting {
    /// Name of the machine for users.
    machine: String,
    described: Machine,
    measured: Option<Measured>,
    ranks: usize,
    nodes: usize,
    most_on_a_node: usize,
}

/// The best algorithm for some calls, and how much it gains.
pub struct Gain {
    pub best: Candidate,
    /// Time of `best` divided by the time of the algorithm that ran.
    pub ratio: f64,
    /// The source of `ratio`, in words.
    pub known_by: String,
    /// Whether `ratio` was measured, not predicted.
    pub is_measured: bool,
}

/// What is known of better algorithms for some calls.
pub enum Known {
    Gain(Gain),
    /// As measured, there is none.
    Nothing,
    Unknown,
}

impl Gain {
    /// Whether the gain is large enough to name the algorithm.
    pub fn is_one(&self) -> bool {
        self.ratio.is_finite() && self.ratio <= BETTER
    }
}

impl Setting {
    /// Returns the setting of the profile's job on the machine that the options name.
    pub fn of(options: &AdviseOptions, profile: &Profile) -> Result<Setting, Failure> {
        let ranks_per_node = options.ranks_per_node.unwrap_or(profile.most_on_a_node());
        let described = named_or_usual(options.machine.as_deref(), ranks_per_node)?;
        let machine = match &options.machine {
            Some(name) => title(name).to_owned(),
            None => format!("{USUAL} (--machine names yours)"),
        };
        let measured = options.measured.as_deref().map(Measured::read).transpose()?;
        let (ranks, nodes, most_on_a_node) = (profile.ranks(), profile.nodes.len(), profile.most_on_a_node());
        Ok(Setting { machine, described, measured, ranks, nodes, most_on_a_node })
    }

    /// Returns where the ranks of some calls were, if that is known.
    fn placement(&self, kind: &CallKind) -> Option<Placement> {
        match kind.size {
            _ if kind.remote > 0 => None,
            size if self.nodes == 1 => Some((size, 1, size)),
            size if size == self.ranks => Some((size, self.nodes, self.most_on_a_node)),
            _ => None,
        }
    }

    /// Whether the calls have a price: the placement of their ranks is known, and so is what they cost.
    fn has_price(&self, kind: &CallKind) -> bool {
        self.placement(kind).is_some()
            && kind.size > 1
            && kind.collective.cut() != Cut::Edges
            && Measure::of(kind.collective) != Measure::Nothing
    }

    /// Returns the best algorithm for some calls: by measurement, otherwise by prediction.
    pub fn known(&self, calls: &Calls) -> Result<Known, Failure> {
        let placed = self.measured.as_ref().zip(self.placement(calls.kind));
        match placed.map_or(Known::Unknown, |(measured, placement)| measured.known(calls, placement)) {
            Known::Unknown => Ok(self.predicted(calls)?.map_or(Known::Unknown, Known::Gain)),
            known => Ok(known),
        }
    }

    fn predicted(&self, calls: &Calls) -> Result<Option<Gain>, Failure> {
        let kind = calls.kind;
        if !self.has_price(kind) {
            return Ok(None);
        }
        let name = calls.served();
        let Some(algorithm) = kind.collective.scheduled().find(|algorithm| algorithm.name == name) else {
            return Ok(None);
        };
        let parameters = calls.parameters();
        let mut candidates = Candidate::all(kind.collective, Sweep::Parameters);
        let call = self.call(calls, kind.size);
        candidates.retain(|candidate| call.is_served_by(candidate.algorithm).is_ok());
        candidates.push(Candidate { collective: kind.collective, algorithm, parameters });
        let ran =
            |candidate: &Candidate| candidate.algorithm.name == name && candidate.parameters == parameters;
        let found = self.prices(&candidates, calls, kind.size)?;
        let ran = found.iter().find(|price| ran(&price.candidate)).and_then(known_time);
        let (Some(best), Some(ran)) = (found.first(), ran) else { return Ok(None) };
        Ok(Some(Gain {
            best: best.candidate,
            ratio: best.time() / ran,
            known_by: format!("by the prediction for {}", self.machine),
            is_measured: false,
        }))
    }

    /// Returns the calls' times on `times` as many ranks, if each rank makes the same calls, by the default rules.
    pub fn grown(&self, calls: &[Calls], times: usize) -> Result<Grown, Failure> {
        let machine = self.machine.clone();
        let mut grown = Grown { ranks: self.ranks * times, before: 0.0, after: 0.0, unknown: 0.0, machine };
        for calls in calls {
            let price = |size| self.price_by_default(calls, size);
            let prices = match calls.kind.size == self.ranks {
                true => price(self.ranks)?.zip(price(self.ranks * times)?),
                false => None,
            };
            match prices {
                Some((now, then)) => {
                    grown.before += calls.moving();
                    grown.after += calls.moving() * then / now;
                }
                None => grown.unknown += calls.moving(),
            }
        }
        Ok(grown)
    }

    /// Returns the seconds of a call with the choice of the default rules; `None` if it has no price.
    fn price_by_default(&self, calls: &Calls, size: usize) -> Result<Option<f64>, Failure> {
        let collective = calls.kind.collective;
        if !self.has_price(calls.kind) {
            return Ok(None);
        }
        let call = self.call(calls, size);
        let Choice::Use { algorithm, parameters } = Rules::built_in().choose(&call) else { return Ok(None) };
        let candidate = Candidate { collective, algorithm, parameters };
        let found = self.prices(&[candidate], calls, size)?;
        Ok(found.first().and_then(known_time))
    }

    /// Returns what is known of such a call on `size` ranks of the machine.
    fn call(&self, calls: &Calls, size: usize) -> Call {
        calls.with_operator(call_on(
            &self.described,
            calls.kind.collective,
            size,
            calls.row.bytes_of_a_call(),
        ))
    }

    /// Returns the predictions of some candidates for a call on `size` ranks, the fastest first.
    fn prices(&self, candidates: &[Candidate], calls: &Calls, size: usize) -> Result<Vec<Price>, Failure> {
        let on = Problem::new(size);
        let found = prices(candidates, &self.described, &on, calls.row.bytes_of_a_call(), |_| {});
        found.map_err(|error| Failure::Input(error.to_string()))
    }
}

/// Returns a time by which others can be divided: an algorithm without a price takes infinitely long.
fn known_time(price: &Price) -> Option<f64> {
    Some(price.time()).filter(|time| time.is_finite() && *time > 0.0)
}

/// The same calls on more ranks. Times are the seconds in which a rank moves data.
pub struct Grown {
    ranks: usize,
    /// On the ranks of the profile.
    before: f64,
    /// On more ranks.
    after: f64,
    /// Calls without a price, on the ranks of the profile.
    unknown: f64,
    machine: String,
}

impl fmt::Display for Grown {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Grown { ranks, before, after, unknown, machine } = self;
        write!(
            formatter,
            "On {ranks} ranks, if each makes the same calls, moving data takes {after:.3} s instead of {before:.3} s, by the prediction for {machine}."
        )?;
        if *unknown > 0.0 {
            write!(
                formatter,
                "\nCalls that move data for {unknown:.3} s are not among these: they have no price, or fewer ranks."
            )?;
        }
        Ok(())
    }
}
