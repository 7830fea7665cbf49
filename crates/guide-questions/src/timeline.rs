//! When each rank does what, by the cost model.

use crate::failure::Failure;
use crate::machine::MachineInput;
use crate::problem::{MOST_BYTES, Subject, collective, drawn, is_for_one_node, ranks_per_node};
use rustcoll::algorithms::{Algorithm, Problem};
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::{self, Activity, Simulation};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Asks for the timeline of a run on a machine.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct TimelineQuestion {
    pub subject: Subject,
    pub machine: MachineInput,
    /// Bytes, by the collective's measure.
    pub bytes: usize,
}

/// What all ranks do in a run, by time.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Timeline {
    /// When the last rank is done.
    pub seconds: f64,
    pub ranks: Vec<Vec<Span>>,
}

/// An activity of a rank and its time, in seconds.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Span {
    pub start: f64,
    pub end: f64,
    pub kind: SpanKind,
    /// The rank at the other end of a message.
    pub peer: Option<usize>,
    /// Bytes of the message.
    pub bytes: Option<f64>,
}

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
        let machine = placed(self.machine.read()?, algorithm, &problem);
        drawn("bytes", self.bytes, 0..=MOST_BYTES)?;
        let timeline = Simulation::new(collective, algorithm, &problem, &machine)
            .and_then(|simulation| simulation.timeline(self.bytes))
            .map_err(|error| Failure::new(error.to_string()))?;
        let ranks = timeline.ranks.iter().map(|spans| spans.iter().map(Span::of).collect()).collect();
        Ok(Timeline { seconds: timeline.seconds, ranks })
    }
}

/// Returns the machine with as many ranks on a node as there are in the run, if the run itself says so.
fn placed(machine: Machine, algorithm: &Algorithm, problem: &Problem) -> Machine {
    match !problem.nodes.is_empty() || is_for_one_node(algorithm) {
        true => Machine { ranks_per_node: ranks_per_node(problem), ..machine },
        false => machine,
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
