//! The result of a tuning.

use crate::statistics::{median, median_of_launches};
use measurements::Contestant;
use rustcoll::algorithms::Collective;

/// The origin of a tuning's measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The processors, the operating system, the host's name.
    pub machine: String,
    /// The MPI library's own name and version.
    pub library: String,
    /// The version of rustcoll.
    pub version: String,
    /// The day on which the tuning began, such as 2026-11-22.
    pub date: String,
    /// The command that started the jobs.
    pub launcher: String,
    /// The number of jobs that measured the default choice and the finalists.
    pub launches: usize,
    /// The rule files that make the default choice; empty for the default rules.
    pub rules: Vec<String>,
}

/// The times of one contestant in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub contestant: Contestant,
    /// The algorithm that ran, if the component reports it.
    pub ran: String,
    /// All times of each job in seconds, by job number. A job has none if it did not measure the contestant.
    pub launches: Vec<Vec<f64>>,
}

impl Tried {
    /// Returns the median of the jobs' medians in seconds; `None` if the contestant was never measured.
    pub fn median(&self) -> Option<f64> {
        let launches = self.measured();
        (!launches.is_empty()).then(|| median_of_launches(&launches))
    }

    /// Returns the least and the greatest of the jobs' medians, in seconds.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        let medians = self.measured().into_iter().map(|times| median(&times));
        medians
            .map(|median| (median, median))
            .reduce(|(least, most), (median, _)| (least.min(median), most.max(median)))
    }

    /// Returns both with the times of the jobs that measured both. Jobs differ, so others say nothing of the difference.
    pub fn in_common(&self, other: &Tried) -> [Tried; 2] {
        let measured = |one: &Tried, job: usize| one.launches.get(job).is_some_and(|times| !times.is_empty());
        let jobs = 0..self.launches.len().min(other.launches.len());
        let common: Vec<usize> = jobs.filter(|&job| measured(self, job) && measured(other, job)).collect();
        [self, other].map(|one| Tried {
            launches: common.iter().map(|&job| one.launches[job].clone()).collect(),
            ..one.clone()
        })
    }

    /// Returns the times of all jobs together, in seconds.
    pub fn times(&self) -> Vec<f64> {
        self.launches.concat()
    }

    fn measured(&self) -> Vec<Vec<f64>> {
        self.launches.iter().filter(|times| !times.is_empty()).cloned().collect()
    }
}

/// A candidate that was not measured, or not to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    pub contestant: Contestant,
    /// A prediction, a wrong result, or a call that hung.
    pub reason: String,
}

/// The candidate that replaces the default choice in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Its index in [`Decision::candidates`].
    pub candidate: usize,
    /// The part of the default's time that the candidate saves, from 0 to 1.
    pub gain: f64,
    /// The probability of such times if both were equally fast (of all calls or of the jobs, two-sided).
    pub probability: f64,
}

/// One cell: a collective, a number of ranks and of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub collective: Collective,
    pub ranks: usize,
    /// The number of hosts.
    pub nodes: usize,
    /// The most ranks on one host.
    pub ranks_per_node: usize,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    /// The choice without the tuned rule file.
    pub default: Tried,
    /// All other contestants that were measured.
    pub candidates: Vec<Tried>,
    pub skipped: Vec<Skipped>,
    /// The candidate that replaces the default, if one is fast enough.
    pub chosen: Option<Chosen>,
    /// The times of the default and of the tuned rule file in one job, if a job measured them.
    pub verified: Option<[Tried; 2]>,
}

/// The whole result.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    pub provenance: Provenance,
    /// Ordered by collective, ranks and bytes.
    pub cells: Vec<Decision>,
    /// The estimated seconds of measuring that predictions saved by excluding candidates.
    pub seconds_saved: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_measured_one_of_two_say_nothing_of_their_difference() {
        let tried = |launches: &[&[f64]]| Tried {
            contestant: "rustcoll".parse().unwrap(),
            ran: String::new(),
            launches: launches.iter().map(|times| times.to_vec()).collect(),
        };
        let [one, other] = tried(&[&[1.0], &[2.0], &[], &[4.0]]).in_common(&tried(&[&[], &[5.0], &[6.0]]));
        assert_eq!((one.launches, other.launches), (vec![vec![2.0]], vec![vec![5.0]]));
    }

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
