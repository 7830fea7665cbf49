//! What a tuning comes to.

use crate::statistics::{median, median_of_launches};
use measurements::Contestant;
use rustcoll::algorithms::Collective;

/// Who tuned what, where.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The processors, the operating system, the host's name.
    pub machine: String,
    /// What the MPI library calls itself.
    pub library: String,
    /// The version of rustcoll.
    pub version: String,
    /// The day on which it began, as 2026-11-22.
    pub date: String,
    /// How jobs were started.
    pub launcher: String,
    /// How many jobs measured the default choice and those that came near it.
    pub launches: usize,
    /// The rule files that decide by default, if not the default rules.
    pub rules: Vec<String>,
}

/// The times of one contestant in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The contestant.
    pub contestant: Contestant,
    /// The algorithm that ran, as far as the component tells.
    pub ran: String,
    /// Of each job all times, in seconds; by the jobs' numbers, without those in which it did not take part.
    pub launches: Vec<Vec<f64>>,
}

impl Tried {
    /// What counts of its times, in seconds: the median of the jobs' medians. `None` if it was never measured.
    pub fn median(&self) -> Option<f64> {
        let launches = self.measured();
        (!launches.is_empty()).then(|| median_of_launches(&launches))
    }

    /// The least and the greatest of the jobs' medians, in seconds.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        let medians = self.measured().into_iter().map(|times| median(&times));
        medians
            .map(|median| (median, median))
            .reduce(|(least, most), (median, _)| (least.min(median), most.max(median)))
    }

    /// The times of all jobs together, in seconds.
    pub fn times(&self) -> Vec<f64> {
        self.launches.concat()
    }

    fn measured(&self) -> Vec<Vec<f64>> {
        self.launches.iter().filter(|times| !times.is_empty()).cloned().collect()
    }
}

/// Why a candidate was not measured, or not to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The candidate.
    pub contestant: Contestant,
    /// The reason: a prediction, a wrong result, a call that hung.
    pub reason: String,
}

/// What replaces the default choice in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Its place among the candidates.
    pub candidate: usize,
    /// The part of the default's time that it saves, from 0 to 1.
    pub gain: f64,
    /// The probability of such times if it were as slow as the default (Wilcoxon's rank-sum test, two-sided).
    pub probability: f64,
}

/// One cell: a collective, a number of ranks and of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The collective.
    pub collective: Collective,
    /// The number of ranks.
    pub ranks: usize,
    /// On how many hosts they are.
    pub nodes: usize,
    /// The most ranks on one host.
    pub ranks_per_node: usize,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    /// What runs without a rule file.
    pub default: Tried,
    /// Everything else that was measured.
    pub candidates: Vec<Tried>,
    /// What was not.
    pub skipped: Vec<Skipped>,
    /// What replaces the default, if anything is faster by enough.
    pub chosen: Option<Chosen>,
    /// The default and the rule file that came of this, in one job, if that was measured.
    pub verified: Option<[Tried; 2]>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Who tuned what, where.
    pub provenance: Provenance,
    /// By collective, ranks and bytes.
    pub cells: Vec<Decision>,
    /// How many seconds of measuring were saved by candidates that predictions excluded, as estimated.
    pub seconds_saved: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_without_times_do_not_count() {
        let launches = vec![vec![3.0, 1.0, 2.0], Vec::new(), vec![5.0], vec![4.0]];
        let mut tried = Tried { contestant: "rustcoll".parse().unwrap(), ran: String::new(), launches };
        assert_eq!((tried.median(), tried.extremes()), (Some(4.0), Some((2.0, 5.0))));
        assert_eq!(tried.times().len(), 5);
        tried.launches = vec![Vec::new()];
        assert_eq!((tried.median(), tried.extremes()), (None, None));
    }
}
