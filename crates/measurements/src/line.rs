//! What the measuring program prints: JSON, one value in a line.

use serde::{Deserialize, Serialize};

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first one.
    Job(Job),
    /// A contestant is about to call a collective for the first time, in one cell.
    Trying(Trial),
    /// How long a collective must be measured.
    Reference(Reference),
    /// One contestant's times in one cell.
    Measurement(Measurement),
    /// Why there are none.
    Fault(Fault),
    /// A call did not end in time: the job ends with this line.
    Hung(Trial),
}

/// Who measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The number of ranks.
    pub ranks: usize,
    /// On how many hosts they are; 0 if that was not told.
    #[serde(default)]
    pub nodes: usize,
    /// The most ranks on one host; 0 if that was not told.
    #[serde(default)]
    pub ranks_per_node: usize,
    /// What the MPI library calls itself.
    pub library: String,
}

/// Who calls what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trial {
    /// What is called: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    /// The contestant.
    pub contestant: String,
}

/// How long each contestant in each cell of a collective is measured at least: as long as it took until the times of its
/// shortest calls were known well (Hunold and Carpen-Amarie 2018, section 4.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// What is called: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    /// The sum of the times that it took, in seconds.
    pub seconds: f64,
    /// Those times.
    pub nanoseconds: Vec<u64>,
}

/// All times of a contestant in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What is called: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    /// The number of ranks.
    pub ranks: usize,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    /// The contestant.
    pub contestant: String,
    /// Which of several jobs that measure the same it was, from 0; who starts them says so.
    #[serde(default)]
    pub launch: usize,
    /// The algorithm that ran, as far as the component tells.
    pub ran: String,
    /// How many repetitions were dropped because a rank was late.
    pub late: usize,
    /// How long each rank computed between a call and its wait, in nanoseconds: as long as the call took without. 0 where calls do
    /// not overlap.
    #[serde(default)]
    pub computing: u64,
    /// From the common start to the end of the last rank.
    pub nanoseconds: Vec<u64>,
}

/// Why a contestant has no times in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What is called: `allreduce`, `iallreduce@overlap`, `allreduce_init`.
    pub collective: String,
    /// The bytes by the collective's measure.
    pub bytes: usize,
    /// The contestant.
    pub contestant: String,
    /// What is wrong.
    pub message: String,
    /// What kind of fault it is.
    #[serde(default)]
    pub cause: Cause,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Something failed: the result was wrong, or somebody else served the calls.
    #[default]
    Failed,
    /// The algorithm does not serve such calls, as it says itself; another one ran.
    NotEligible,
    /// In every repetition a rank was late; another time that may be otherwise.
    Late,
}

impl Line {
    /// Writes it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers can be written")
    }

    /// Reads one; `None` if something else was printed.
    pub fn from_json(text: &str) -> Option<Line> {
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
        let line = Line::Fault(fault);
        assert!(!line.to_json().contains('\n'));
        assert_eq!(Line::from_json(&line.to_json()), Some(line));
        assert_eq!(Line::from_json("h1: something else"), None);
    }
}
