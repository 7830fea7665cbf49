//! What stands in the file of everything that was measured: JSON, one value in a line.

use measurements::Line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first line: what was tuned, where. Whatever shapes the plan is in it, so that a tuning goes on as it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format's name and version.
    pub format: String,
    /// The host's name, the processors, the kernel.
    pub machine: String,
    /// What the MPI library calls itself; not known before a job was started.
    pub library: String,
    /// The version of rustcoll.
    pub version: String,
    /// The day on which it began, as 2026-11-22.
    pub date: String,
    /// The command's options by their names.
    pub options: BTreeMap<String, String>,
    /// The texts of the files that options name.
    pub files: BTreeMap<String, String>,
}

/// Any other line: something that happened in a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The job's number, from 0 in the order in which they were started.
    pub job: usize,
    /// What it was for.
    pub step: TuningStep,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What a job is for. Several may be started for the same if the first ones fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TuningStep {
    /// The number of ranks.
    pub ranks: usize,
    /// The stage.
    pub stage: Stage,
    /// Which of the stage's jobs it is, from 0.
    pub round: usize,
}

/// The stages, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Everybody is measured once.
    Survey,
    /// Parameters are varied.
    Search,
    /// The best race with the default.
    Final,
    /// The rule file races with the default.
    Verify,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// The measuring program printed a line.
    Said(Line),
    /// The tuner drew a conclusion.
    Concluded(Conclusion),
}

/// What the tuner makes of a job's end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Conclusion {
    /// A contestant is not called again on as many ranks, with as many bytes or more.
    Excluded {
        /// The collective.
        collective: String,
        /// The bytes by the collective's measure.
        bytes: usize,
        /// The contestant.
        contestant: String,
        /// What it did.
        reason: String,
    },
}

impl Stage {
    /// In words.
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
        for event in
            [Event::Said(Line::Job(job)), Event::Said(Line::Trying(trial)), Event::Concluded(excluded)]
        {
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
