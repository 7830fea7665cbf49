//! Machines on which algorithms are priced.

use crate::failure::Failure;
use crate::problem::drawn;
use rustcoll::cost::machine::{SHIPPED, Shipped};
use rustcoll::cost::{ByteTime, Link, Machine, Processor};
use rustcoll::text::nearest;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The preset that is Hockney's model alone.
const HOCKNEY: &str = "hockney";

/// Presets show the time of a byte for messages of this length, where the time depends on the length.
const SHOWN_BYTES: f64 = (1 << 20) as f64;

/// A preset and the parameters that the user changes, for every number of nodes and ranks.
#[derive(Clone, Debug, Default, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields)]
pub struct MachineInput {
    /// The name of a [`Preset`].
    #[ts(optional = false)]
    pub preset: String,
    /// Between nodes: alpha, in seconds.
    pub latency: Option<f64>,
    /// Between nodes: beta, in seconds for each byte.
    pub byte_time: Option<f64>,
    /// Gamma, in seconds for each byte.
    pub reduce_time: Option<f64>,
    /// Between nodes: LogGP's o, in seconds.
    pub overhead: Option<f64>,
    /// Between nodes: LogGP's g, in seconds.
    pub gap: Option<f64>,
    pub ranks_per_node: Option<usize>,
}

/// A machine whose parameters are known; times in seconds, as in [`MachineInput`].
#[derive(Clone, Debug, Serialize, TS)]
pub struct Preset {
    pub name: String,
    pub title: String,
    pub latency: f64,
    pub byte_time: f64,
    pub reduce_time: f64,
    pub overhead: f64,
    pub gap: f64,
    pub ranks_per_node: usize,
    /// Whether messages between nodes go by TCP.
    pub tcp: bool,
}

/// Returns all presets, Hockney's model first.
pub fn presets() -> Vec<Preset> {
    let shipped = SHIPPED.iter().map(|shipped| Preset::of(shipped.name, shipped.title, &shipped.machine()));
    let model = Preset::of(HOCKNEY, "Hockney's model: alpha + n beta, one rank on each node", &hockney());
    [model].into_iter().chain(shipped).collect()
}

/// Latency 1 µs; messages 10 GB/s, reductions 5 GB/s.
fn hockney() -> Machine {
    Machine::hockney(1e-6, 1e-10, 2e-10)
}

impl Preset {
    fn of(name: &str, title: &str, machine: &Machine) -> Preset {
        let Link { latency, byte_time, overhead, gap, .. } = machine.between;
        Preset {
            name: name.into(),
            title: title.into(),
            latency,
            byte_time: byte_time.at(SHOWN_BYTES),
            reduce_time: machine.processor.reduce_time.at(SHOWN_BYTES),
            overhead,
            gap,
            ranks_per_node: machine.ranks_per_node,
            tcp: machine.tcp,
        }
    }
}

/// Returns the time that a user gave. Fails unless it is from 0 to [`MOST_SECONDS`].
fn seconds(field: &str, wanted: Option<f64>) -> Result<Option<f64>, Failure> {
    match wanted {
        Some(wanted) if !(0.0..=MOST_SECONDS).contains(&wanted) => {
            let message = format!("{field} {wanted:?}: expected seconds from 0 to {MOST_SECONDS}");
            Err(Failure::of(field, message))
        }
        wanted => Ok(wanted),
    }
}

impl MachineInput {
    /// Returns the machine. Fails if there is no such preset, or a parameter is out of range.
    pub fn read(&self) -> Result<Machine, Failure> {
        let mut machine = self.preset()?;
        machine.between = self.changed_link(machine.between)?;
        for (_, link) in &mut machine.beyond.between {
            *link = self.changed_link(*link)?;
        }
        machine.processor = self.changed_processor(machine.processor)?;
        for (_, processor) in &mut machine.beyond.processor {
            *processor = self.changed_processor(*processor)?;
        }
        if let Some(sharing) = self.ranks_per_node {
            drawn("ranks_per_node", sharing, 1..=MOST_RANKS_PER_NODE)?;
            machine.ranks_per_node = sharing;
        }
        Ok(machine)
    }

    /// A time for a byte holds for all messages, also for those that the preset prices apart.
    fn changed_link(&self, link: Link) -> Result<Link, Failure> {
        let byte_time = seconds("byte_time", self.byte_time)?;
        Ok(Link {
            latency: seconds("latency", self.latency)?.unwrap_or(link.latency),
            byte_time: byte_time.map_or(link.byte_time, ByteTime::constant),
            exchange_byte_time: byte_time.map_or(link.exchange_byte_time, |_| ByteTime::NONE),
            overhead: seconds("overhead", self.overhead)?.unwrap_or(link.overhead),
            gap: seconds("gap", self.gap)?.unwrap_or(link.gap),
            ..link
        })
    }

    fn changed_processor(&self, processor: Processor) -> Result<Processor, Failure> {
        let reduce_time = seconds("reduce_time", self.reduce_time)?;
        let reduce_time = reduce_time.map_or(processor.reduce_time, ByteTime::constant);
        Ok(Processor { reduce_time, ..processor })
    }

    fn preset(&self) -> Result<Machine, Failure> {
        if self.preset == HOCKNEY {
            return Ok(hockney());
        }
        let names = [HOCKNEY].into_iter().chain(SHIPPED.iter().map(|shipped| shipped.name));
        let unknown = || Failure::of("preset", nearest::unknown("machine", &self.preset, names));
        Shipped::named(&self.preset).map(|shipped| shipped.machine()).ok_or_else(unknown)
    }
}

/// No time of a machine may be longer.
pub const MOST_SECONDS: f64 = 10.0;

/// No node may have more ranks.
pub const MOST_RANKS_PER_NODE: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_for_a_byte_holds_for_all_messages_between_nodes() {
        let input = MachineInput { preset: "leonardo".into(), byte_time: Some(1e-9), ..Default::default() };
        let machine = input.read().unwrap();
        let beyond = machine.beyond.between.iter().map(|(_, link)| link);
        for link in [&machine.between].into_iter().chain(beyond) {
            assert_eq!(link.byte_time, ByteTime::constant(1e-9));
            assert!(link.exchange_byte_time.is_none());
        }
    }
}
