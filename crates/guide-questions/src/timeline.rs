//! What each rank does when, under the cost model.

use crate::failure::Failure;
use crate::machine::MachineInput;
use crate::problem::{Subject, collective, drawn};
use rustcoll::cost::simulation::{self, Activity, MOST_BYTES, Simulation};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which run on which machine.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct TimelineQuestion {
    /// The algorithm and its problem.
    pub subject: Subject,
    /// The machine.
    pub machine: MachineInput,
    /// Bytes, by the collective's measure.
    pub bytes: usize,
}

/// What all ranks do in a run.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Timeline {
    /// When all ranks are done.
    pub seconds: f64,
    /// What each rank does.
    pub ranks: Vec<Vec<Span>>,
}

/// From when to when a rank does something, in seconds.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Span {
    /// When it begins.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// What the rank does.
    pub kind: SpanKind,
    /// The rank at the other end of a message.
    pub peer: Option<usize>,
    /// Bytes of the message.
    pub bytes: Option<f64>,
}

/// What a rank does.
#[derive(Clone, Copy, Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// A message leaves.
    Send,
    /// A message arrives.
    Receive,
    /// The processor copies, reduces or handles a message.
    Work,
    /// The rank waits.
    Wait,
}

impl TimelineQuestion {
    /// Simulates the run.
    pub fn answer(&self) -> Result<Timeline, Failure> {
        let (algorithm, problem) = self.subject.read()?;
        let collective = collective(&self.subject.collective)?;
        let machine = self.machine.read()?;
        drawn("bytes", self.bytes, 0..=MOST_BYTES)?;
        let timeline = Simulation::new(collective, algorithm, &problem, &machine)
            .and_then(|simulation| simulation.timeline(self.bytes))
            .map_err(|error| Failure::new(error.to_string()))?;
        let ranks = timeline.ranks.iter().map(|spans| spans.iter().map(Span::of).collect()).collect();
        Ok(Timeline { seconds: timeline.seconds, ranks })
    }
}

impl Span {
    fn of(span: &simulation::Span) -> Span {
        let (kind, message) = match span.activity {
            Activity::Send { peer, bytes } => (SpanKind::Send, Some((peer, bytes))),
            Activity::Receive { peer, bytes } => (SpanKind::Receive, Some((peer, bytes))),
            Activity::Work => (SpanKind::Work, None),
            Activity::Wait => (SpanKind::Wait, None),
        };
        let (peer, bytes) = message.unzip();
        Span { start: span.start, end: span.end, kind, peer, bytes }
    }
}
