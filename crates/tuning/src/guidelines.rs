//! Self-consistent performance guidelines: a collective must not be slower than other calls with which the
//! user could do the same (Träff, Gropp and Thakur 2010; Hunold and Carpen-Amarie 2018).

use crate::chance::chance;
use crate::mock_up::MockUp;
use crate::settings::Setting;
use crate::{Decision, Tried, words};
use rustcoll::algorithms::Collective;
use rustcoll::selection::quantity;

/// Kinds of guidelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guideline {
    /// A collective is not slower than a combination of others that does the same.
    Pattern,
    /// A size does not take longer than the next larger size that was measured.
    Monotony,
    /// A call is not slower than several calls with equal parts of its data.
    Split,
}

impl Guideline {
    pub const ALL: [Guideline; 3] = [Guideline::Pattern, Guideline::Monotony, Guideline::Split];

    /// Returns the kind's name for users.
    pub fn name(self) -> &'static str {
        match self {
            Guideline::Pattern => "pattern",
            Guideline::Monotony => "monotony",
            Guideline::Split => "split",
        }
    }
}

/// The limits beyond which a guideline is violated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// A median above this factor times the other median is too slow.
    pub factor: f64,
    /// An upper bound for the probability of such times if both were equally fast.
    pub significance: f64,
}

impl Default for Limits {
    /// A tenth slower, with a probability below one in twenty.
    fn default() -> Limits {
        Limits { factor: 1.1, significance: 0.05 }
    }
}

/// A guideline and the measured times.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub kind: Guideline,
    /// The relation that should hold: `bcast <= scatter + allgather`, `bcast(8) <= bcast(64)`.
    pub guideline: String,
    /// The collective that should be the faster one.
    pub collective: Collective,
    pub ranks: usize,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    /// The collective's time in seconds.
    pub seconds: f64,
    /// The other side of the relation: a contestant, `64 bytes`, `4 calls of 16KiB`.
    pub other: String,
    /// The other side's time in seconds.
    pub other_seconds: f64,
    /// The probability of such times if both were equally fast (of all calls or of the jobs, two-sided).
    pub probability: f64,
}

impl Comparison {
    /// Returns the collective's time as a multiple of the other side's time.
    pub fn ratio(&self) -> f64 {
        self.seconds / self.other_seconds
    }

    fn splits_the_same(&self, other: &Comparison) -> bool {
        let call = |one: &Comparison| (one.kind, one.collective, one.ranks, one.bytes);
        self.kind == Guideline::Split && call(self) == call(other)
    }

    /// Whether the collective takes too long, and not just by chance.
    pub fn is_violation(&self, limits: Limits) -> bool {
        self.ratio() > limits.factor && self.probability < limits.significance
    }
}

/// Compares each cell's default with the mock-ups among its candidates, and with the default in the other cells
/// of its collective on these ranks. The result has the order of the cells, and all ways to split a call.
pub fn comparisons(cells: &[Decision], kinds: &[Guideline]) -> Vec<Comparison> {
    let settings = Setting::all(cells);
    let compared = |setting: &Setting| -> Vec<Comparison> {
        let cells = setting.cells.iter();
        cells.flat_map(|cell| kinds.iter().flat_map(|kind| cell.compared(*kind, setting))).collect()
    };
    settings.iter().flat_map(compared).collect()
}

/// Returns the comparisons that violate their guideline, in order. Among several faster ways to split a call,
/// only the fastest one is returned.
pub fn violations(compared: &[Comparison], limits: Limits) -> Vec<&Comparison> {
    let mut all: Vec<&Comparison> = Vec::new();
    for one in compared.iter().filter(|one| one.is_violation(limits)) {
        match all.iter_mut().find(|other| other.splits_the_same(one)) {
            Some(other) if other.ratio() < one.ratio() => *other = one,
            Some(_) => {}
            None => all.push(one),
        }
    }
    all
}

impl Decision {
    /// Returns the mock-ups that were measured in this cell.
    pub fn mock_ups(&self) -> impl Iterator<Item = (MockUp, &Tried)> {
        self.candidates.iter().filter_map(|tried| {
            let name = tried.contestant.algorithm.as_deref()?;
            Some((MockUp::named(self.collective, name)?, tried))
        })
    }

    fn compared(&self, kind: Guideline, setting: &Setting) -> Vec<Comparison> {
        match kind {
            Guideline::Pattern => {
                self.mock_ups().filter_map(|(mock_up, tried)| self.slower_than(mock_up, tried)).collect()
            }
            Guideline::Monotony => {
                let next = setting.cells.iter().find(|other| other.bytes > self.bytes);
                next.and_then(|next| self.slower_than_more(next)).into_iter().collect()
            }
            Guideline::Split => {
                setting.cells.iter().filter_map(|part| self.slower_than_parts(part)).collect()
            }
        }
    }

    fn slower_than(&self, mock_up: MockUp, tried: &Tried) -> Option<Comparison> {
        self.compare(Guideline::Pattern, mock_up.guideline(), tried.contestant.to_string(), tried, 1)
    }

    fn slower_than_more(&self, more: &Decision) -> Option<Comparison> {
        let guideline = format!("{} <= {}", self.call(), more.call());
        self.compare(Guideline::Monotony, guideline, words::bytes(more.bytes), &more.default, 1)
    }

    fn slower_than_parts(&self, part: &Decision) -> Option<Comparison> {
        let parts = self
            .bytes
            .checked_div(part.bytes)
            .filter(|&parts| parts > 1 && parts * part.bytes == self.bytes)?;
        let guideline = format!("{} <= {parts} {}", self.call(), part.call());
        let other = format!("{parts} calls of {}", words::bytes(part.bytes));
        self.compare(Guideline::Split, guideline, other, &part.default, parts)
    }

    /// `bcast(64KiB)`
    fn call(&self) -> String {
        format!("{}({})", self.collective.name(), quantity::in_units(self.bytes))
    }

    /// Compares the default with `calls` calls of another contestant; `None` if one of them was not measured.
    fn compare(
        &self,
        kind: Guideline,
        guideline: String,
        other: String,
        tried: &Tried,
        calls: usize,
    ) -> Option<Comparison> {
        let calls = calls as f64;
        let together = |times: &Vec<f64>| times.iter().map(|time| calls * time).collect();
        let others: Vec<Vec<f64>> = tried.launches.iter().map(together).collect();
        Some(Comparison {
            kind,
            guideline,
            collective: self.collective,
            ranks: self.ranks,
            bytes: self.bytes,
            seconds: self.default.median()?,
            other,
            other_seconds: calls * tried.median()?,
            probability: chance(&self.default.launches, &others),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{decision, tried};

    fn taking(bytes: usize, milliseconds: f64) -> Decision {
        Decision { default: tried("tuned", milliseconds * 1e-3), ..decision(Collective::Bcast, 13, bytes) }
    }

    fn found(cells: &[Decision], kinds: &[Guideline]) -> Vec<(String, usize, String)> {
        let compared = comparisons(cells, kinds);
        let all = violations(&compared, Limits::default()).into_iter();
        all.map(|one| (one.guideline.clone(), one.bytes, format!("{} {:.2}", one.other, one.ratio())))
            .collect()
    }

    fn told(guideline: &str, bytes: usize, faster: &str) -> (String, usize, String) {
        (guideline.to_owned(), bytes, faster.to_owned())
    }

    #[test]
    fn a_collective_is_not_slower_than_others_together() {
        let cell = decision(Collective::Bcast, 13, 65536)
            .with("tuned:bcast_as_scatter_allgather", 0.5)
            .with("tuned:bcast_as_allgatherv", 0.95)
            .with("tuned:3", 0.1);
        let expected = [told("bcast <= scatter + allgather", 65536, "tuned:bcast_as_scatter_allgather 2.00")];
        assert_eq!(found(std::slice::from_ref(&cell), &Guideline::ALL), expected);
        assert_eq!(found(&[cell], &[Guideline::Monotony, Guideline::Split]), []);
    }

    #[test]
    fn less_data_take_no_longer_than_more() {
        let cells = [taking(1024, 3.0), taking(8, 1.0), taking(64, 4.0), taking(4096, 3.0)];
        let expected = [told("bcast(64) <= bcast(1KiB)", 64, "1KiB 1.33")];
        assert_eq!(found(&cells, &[Guideline::Monotony]), expected);
    }

    #[test]
    fn a_call_is_not_slower_than_its_parts() {
        let cells = [taking(8, 1.0), taking(16, 1.8), taking(24, 4.5), taking(64, 9.0)];
        let expected = [
            told("bcast(24) <= 3 bcast(8)", 24, "3 calls of 8 bytes 1.50"),
            told("bcast(64) <= 4 bcast(16)", 64, "4 calls of 16 bytes 1.25"),
        ];
        assert_eq!(found(&cells, &[Guideline::Split]), expected);
        // A faster way that may be due to chance does not hide one that is certain.
        let mut uncertain = cells.clone();
        uncertain[0].default.launches = vec![vec![0.5e-3]];
        let sure = [told("bcast(64) <= 4 bcast(16)", 64, "4 calls of 16 bytes 1.25")];
        assert_eq!(found(&uncertain, &[Guideline::Split])[..], sure);
        // Without data there is nothing to split.
        assert_eq!(found(&[taking(0, 1.0), taking(8, 9.0)], &[Guideline::Split]), []);
    }

    #[test]
    fn what_may_be_chance_is_no_violation() {
        let few =
            |milliseconds: f64| Tried { launches: vec![vec![milliseconds * 1e-3; 3]], ..tried("tuned", 1.0) };
        let cell = |count: usize| Decision {
            default: Tried { launches: vec![vec![2e-3; count]], ..tried("tuned", 1.0) },
            candidates: vec![Tried { contestant: "tuned:bcast_as_allgatherv".parse().unwrap(), ..few(1.0) }],
            ..decision(Collective::Bcast, 4, 8)
        };
        assert_eq!(found(&[cell(3)], &Guideline::ALL), []);
        assert_eq!(found(&[cell(9)], &Guideline::ALL).len(), 1);
        // A slow collective that was not measured violates nothing.
        let unmeasured = Tried { launches: Vec::new(), ..few(1.0) };
        assert_eq!(found(&[Decision { default: unmeasured, ..cell(9) }], &Guideline::ALL), []);
    }
}
