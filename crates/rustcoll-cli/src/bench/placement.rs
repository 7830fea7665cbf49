//! Where the ranks of a job should be.

use crate::words::counted;
use measurements::Job;

/// How many ranks a job has, and how many of them are on each host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placement {
    pub ranks: usize,
    pub ranks_per_host: usize,
}

impl Placement {
    pub fn hosts(self) -> usize {
        self.ranks / self.ranks_per_host
    }

    /// Fails if a job reports that its ranks are on other hosts. [`super::job`] checks the number of ranks.
    pub fn check(self, job: &Job) -> Result<(), String> {
        let (hosts, most) = (self.hosts(), self.ranks_per_host);
        let is_told = job.nodes > 0 && job.ranks == self.ranks;
        if !is_told || (job.nodes, job.ranks_per_node) == (hosts, most) {
            return Ok(());
        }
        Err(format!(
            "the {} ranks are on {}, at most {} on one, not on {} of {most}: --ranks-per-host says how many a host \
             has, and --launcher puts them there",
            job.ranks,
            counted(job.nodes, "host"),
            job.ranks_per_node,
            counted(hosts, "host")
        ))
    }
}
