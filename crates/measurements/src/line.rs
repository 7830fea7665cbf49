//! The output of the measuring program: one JSON value per line.

use serde::{Deserialize, Serialize};

/// A line of the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum OutputLine {
    /// The first line.
    Job(Job),
    /// A contestant is about to make its first call in one cell.
    Trying(Trial),
    /// How long a collective must be measured at least.
    Reference(Reference),
    /// One contestant's times in one cell.
    Measurement(Measurement),
    /// Why a contestant has no times in a cell.
    Fault(Fault),
    /// A call did not end in time. The job ends with this line.
    Hung(Trial),
}

/// The job that measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub ranks: usize,
    /// The number of hosts; 0 if it is not known.
    #[serde(default)]
    pub nodes: usize,
    /// The most ranks on one host; 0 if it is not known.
    #[serde(default)]
    pub ranks_per_node: usize,
    /// The MPI library's own name and version.
    pub library: String,
}

/// A contestant in one cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trial {
    /// The operation's name: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    pub contestant: String,
}

/// The least time to measure each contestant in each cell of a collective. It is the time that the
/// collective's shortest calls needed until their mean was known well (Hunold and Carpen-Amarie 2018, section
/// 4.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The operation's name: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    /// The sum of `nanoseconds`, in seconds.
    pub seconds: f64,
    /// The times of the calls.
    pub nanoseconds: Vec<u64>,
}

/// All times of a contestant in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The operation's name: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    pub ranks: usize,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    pub contestant: String,
    /// The job's number, from 0, among several jobs that measure the same. The command that starts the jobs sets it.
    #[serde(default)]
    pub launch: usize,
    /// The algorithm that ran, if the component reports it.
    pub ran: String,
    /// The number of repetitions that were dropped because a rank was late.
    pub late: usize,
    /// How long each rank computed between a call and its wait, in nanoseconds. It is the time of the call
    /// without computing. 0 if calls do not overlap.
    #[serde(default)]
    pub computing: u64,
    /// The time of each repetition, from the common start to the end of the last rank.
    pub nanoseconds: Vec<u64>,
}

/// Why a contestant has no times in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The operation's name: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    pub contestant: String,
    pub message: String,
    #[serde(default)]
    pub cause: Cause,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A failure: the result was wrong, or another component served the calls.
    #[default]
    Failed,
    /// The algorithm does not serve such calls, so another one would run.
    NotEligible,
    /// A rank was late in every repetition. A later run may succeed.
    Late,
}

impl OutputLine {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers can be written")
    }

    /// Reads a line; `None` if it is not one of these lines.
    pub fn from_json(text: &str) -> Option<OutputLine> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let fault = Fault {
            collective: "scan".into(),
            bytes: 8,
            contestant: "tuned".into(),
            message: "a \"wrong\"\nresult".into(),
            cause: Cause::NotEligible,
        };
        let line = OutputLine::Fault(fault);
        assert!(!line.to_json().contains('\n'));
        assert_eq!(OutputLine::from_json(&line.to_json()), Some(line));
        assert_eq!(OutputLine::from_json("h1: something else"), None);
    }
}
