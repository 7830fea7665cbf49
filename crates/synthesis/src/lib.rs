//! Searches for algorithms that are made for one machine and one number of ranks.
//!
//! Each attempt makes a *timetable*: every block gets to every rank as early as possible, and chance decides
//! ties. rustcoll's simulator prices the best timetables, and its verifier proves the result. The search
//! finds an algorithm for one number of ranks only. In return, nodes may have different numbers of ranks,
//! which registered algorithms handle less well.

mod network;
mod programs;
mod timetable;

use network::Network;
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::atlas::{Candidate, Sweep, prices};
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::SimulationError;
use rustcoll::schedule_file::{Title, file, prove};
use timetable::Timetable;

/// The number of attempts to simulate: those with the fastest timetables.
const SIMULATED: usize = 48;

/// A search for an allgather.
pub struct Search<'a> {
    /// The ranks, with their nodes.
    pub on: Problem,
    /// Bytes of each block.
    pub bytes: usize,
    /// The machine and its name.
    pub machine: (&'a Machine, &'a str),
    /// The number of timetables to make.
    pub attempts: usize,
}

/// The best schedule of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The schedule file.
    pub text: String,
    /// The simulated time in seconds.
    pub time: f64,
}

impl Search<'_> {
    /// Searches, and calls `observe` with the part of the work that is done, from 0 to 1. Returns `None` for
    /// a single rank.
    ///
    /// # Errors
    /// Fails if a schedule cannot be simulated on the machine.
    pub fn run(&self, observe: impl Fn(f64)) -> Result<Option<Found>, SimulationError> {
        let network = Network::new(self.machine.0, &self.on.nodes, self.bytes);
        let mut attempts: Vec<(f64, usize)> = Vec::new();
        for seed in 0..self.attempts {
            attempts.push((Timetable::drawn(&network, seed as u64).end, seed));
            observe(seed as f64 / self.attempts as f64);
        }
        attempts.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut best: Option<Found> = None;
        for (_, seed) in attempts.into_iter().take(SIMULATED) {
            let found = self.priced(&Timetable::drawn(&network, seed as u64))?;
            if best.as_ref().is_none_or(|best| found.time < best.time) {
                best = Some(found);
            }
        }
        Ok(best.filter(|_| self.on.size > 1))
    }

    fn priced(&self, timetable: &Timetable) -> Result<Found, SimulationError> {
        let (machine, name) = self.machine;
        let source = format!("rustcoll synthesize, for {} bytes on {name}", self.bytes);
        let programs = programs::of(timetable, self.on.size);
        let title = Title {
            collective: Collective::Allgather,
            name: "synthesized",
            root: None,
            needs_commutative: false,
            source: Some(&source),
        };
        let text = file(&title, &programs);
        let proved = prove("a timetable", &text).expect("a timetable brings every block to every rank");
        let algorithm = proved.algorithm("a timetable").expect("allgather has no root");
        let candidate = Candidate::of(Collective::Allgather, algorithm, Sweep::Defaults);
        let prices = prices(&candidate, machine, &self.on, self.bytes, |_| {})?;
        Ok(Found { text, time: prices.first().map_or(f64::INFINITY, rustcoll::atlas::Price::time) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::Nodes;
    use rustcoll::cost::simulation::simulate;

    fn on(nodes: Nodes) -> Problem {
        Problem { nodes: nodes.clone(), ..Problem::new(nodes.len()) }
    }

    /// Nodes of five ranks. With eight ranks, the second node has three. Messages between nodes share a port.
    fn machine() -> Machine {
        let text = "ranks_per_node = 5\n[within]\nlatency = \"1us\"\nbandwidth = \"10GB/s\"\n\
                    [between]\nlatency = \"5us\"\nbandwidth = \"1GB/s\"\nport = \"node\"\n";
        Machine::parse("test", text).unwrap()
    }

    fn found(ranks: usize, bytes: usize, machine: &Machine) -> Found {
        let on = on(machine.nodes(ranks));
        let search = Search { on, bytes, machine: (machine, "test"), attempts: 50 };
        search.run(|_| {}).unwrap().unwrap()
    }

    #[test]
    fn what_is_found_is_right_for_every_number_of_ranks() {
        for ranks in 2..14 {
            let text = found(ranks, 1000, &machine()).text;
            assert_eq!(prove("found", &text).unwrap().problems, 2, "{text}");
        }
    }

    #[test]
    fn it_is_faster_than_the_ring_on_nodes_of_different_sizes() {
        let machine = machine();
        let ring = Collective::Allgather.algorithm("ring").unwrap();
        let problem = rustcoll::algorithms::Problem::new(8);
        let time = simulate(Collective::Allgather, ring, &problem, 1 << 16, &machine).unwrap().time();
        let found = found(8, 1 << 16, &machine).time;
        assert!(found < 0.85 * time, "{found} {time}");
    }

    #[test]
    fn blocks_of_a_node_with_more_ranks_do_not_wait_for_each_other() {
        let machine = machine();
        let on = on(Nodes::named([0, 0, 0, 0, 1, 2, 3]));
        let candidates = Candidate::all(Collective::Allgather, Sweep::Parameters);
        let own = prices(&candidates, &machine, &on, 1 << 14, |_| {}).unwrap()[0].time();
        let search = Search { on, bytes: 1 << 14, machine: (&machine, "test"), attempts: 200 };
        let found = search.run(|_| {}).unwrap().unwrap();
        assert!(found.time < 0.95 * own, "{} {own}", found.time);
    }

    #[test]
    fn the_same_search_finds_the_same() {
        assert_eq!(found(7, 5000, &machine()), found(7, 5000, &machine()));
        let alone = Search { on: on(Nodes::one(1)), bytes: 8, machine: (&machine(), "test"), attempts: 3 };
        assert_eq!(alone.run(|_| {}).unwrap(), None);
    }
}
