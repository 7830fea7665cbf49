//! The file of everything that a tuning measured: JSON, with one value in a line.

use crate::bench::shaping::Shaping;
use measurements::OutputLine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first line. It has everything that shapes the plan, so that a tuning continues as it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format's name and version.
    pub format: String,
    /// The host's name, `: `, the processors, the kernel.
    pub machine: String,
    /// The MPI library's own description of itself; empty before the first job.
    pub library: String,
    pub version: String,
    /// The day on which the tuning began, as 2026-11-22.
    pub date: String,
    /// Options of the command, by name.
    pub options: BTreeMap<String, String>,
    /// What decides how long calls take, besides the options.
    #[serde(default)]
    pub shaping: Shaping,
}

impl Header {
    /// Returns the processors and the kernel. The host does not count: batch jobs of a cluster begin on different ones.
    pub fn kind_of_machine(&self) -> &str {
        self.machine.split_once(": ").map_or(&self.machine, |(_, kind)| kind)
    }
}

/// Every other line: an event of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The job's number, from 0 in the order in which jobs were started.
    pub job: usize,
    pub step: TuningStep,
    #[serde(flatten)]
    pub event: Event,
}

/// The purpose of a job. If the first jobs fail, more jobs have the same purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TuningStep {
    pub ranks: usize,
    pub stage: Stage,
    /// Index of the job in its stage, from 0.
    pub round: usize,
}

/// The stages, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// All contestants are measured once.
    Survey,
    /// The search varies parameters.
    Search,
    /// The best candidates race against the default.
    Final,
    /// The rule file races against the default.
    Verify,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// The measuring program printed a line.
    Said(OutputLine),
    /// The tuner drew a conclusion.
    Concluded(Conclusion),
}

/// What the tuner concludes from a job's end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Conclusion {
    /// A contestant is not called again on this number of ranks, with as many bytes or more.
    Excluded {
        collective: String,
        /// By the collective's measure.
        bytes: usize,
        contestant: String,
        /// What the contestant did.
        reason: String,
    },
}

impl Stage {
    /// Returns the stage in words.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Survey => "survey",
            Stage::Search => "search",
            Stage::Final => "final",
            Stage::Verify => "verification",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measurements::{Job, Trial};

    #[test]
    fn entries_are_read_as_they_were_written() {
        let trial = Trial { collective: "bcast".into(), bytes: 8, contestant: "rustcoll".into() };
        let excluded = Conclusion::Excluded {
            collective: "bcast".into(),
            bytes: 8,
            contestant: "rustcoll:chain".into(),
            reason: "it hung".into(),
        };
        let job = Job { ranks: 13, nodes: 1, ranks_per_node: 13, library: "Some MPI".into() };
        for event in [
            Event::Said(OutputLine::Job(job)),
            Event::Said(OutputLine::Trying(trial)),
            Event::Concluded(excluded),
        ] {
            let step = TuningStep { ranks: 13, stage: Stage::Survey, round: 0 };
            let entry = Entry { job: 3, step, event };
            let text = serde_json::to_string(&entry).unwrap();
            assert!(
                text.starts_with(r#"{"job":3,"step":{"ranks":13,"stage":"survey","round":0},"line":"#),
                "{text}"
            );
            assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
        }
    }
}
