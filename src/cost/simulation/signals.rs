//! Flags that ranks of a node raise and await, and ends of stripes that all of them reach.

use super::SimulationError;
use super::instant::Instant;
use super::program::{Program, Signal};
use super::symmetry::Symmetry;
use crate::algorithms::{Nodes, Reason, Requirement};
use std::collections::HashMap;

/// The signals of all programs, numbered.
pub struct Signals {
    /// How many ranks give each signal: all of a node for the end of a stripe, otherwise one.
    givers: Vec<u32>,
    /// The numbers of the signals that each rank gives, in the order of its program.
    given: Vec<Vec<u32>>,
    /// The numbers of the signals that each rank expects, in the order of its program.
    expected: Vec<Vec<u32>>,
}

impl Signals {
    /// Matches given with expected signals. Fails if a rank expects a signal that no rank gives, or a flag of
    /// another node.
    pub fn new(programs: &[Program], symmetry: Symmetry, nodes: &Nodes) -> Result<Signals, SimulationError> {
        let mut numbers: HashMap<(u32, Signal), u32> = HashMap::new();
        let mut givers: Vec<u32> = Vec::new();
        let mut given = Vec::with_capacity(programs.len());
        for (rank, program) in programs.iter().enumerate() {
            let mut number_of = |&signal: &Signal| {
                let number = *numbers.entry(key(signal, symmetry, nodes.of(rank))).or_insert_with(|| {
                    givers.push(0);
                    givers.len() as u32 - 1
                });
                givers[number as usize] += 1;
                number
            };
            given.push(program.given.iter().map(&mut number_of).collect());
        }
        let mut expected = Vec::with_capacity(programs.len());
        for (rank, program) in programs.iter().enumerate() {
            let number_of = |&signal: &Signal| match signal {
                Signal::Flag { rank: peer, .. } if nodes.of(peer as usize) != nodes.of(rank) => {
                    Err(SimulationError::DoesNotServe(Reason::Unmet(Requirement::OneNode)))
                }
                _ => {
                    let number = numbers.get(&key(signal, symmetry, nodes.of(rank)));
                    number.copied().ok_or(SimulationError::Deadlock { rank })
                }
            };
            expected.push(program.expected.iter().map(number_of).collect::<Result<_, _>>()?);
        }
        Ok(Signals { givers, given, expected })
    }

    /// How many signals all ranks wait for.
    pub fn expectations(&self) -> usize {
        self.expected.iter().map(Vec::len).sum()
    }
}

/// Returns the identity of a signal: of a flag by the rank that raises it, of the end of a stripe by its
/// node.
fn key(signal: Signal, symmetry: Symmetry, node: u32) -> (u32, Signal) {
    match signal {
        Signal::Flag { rank, stripe, slot, times } => {
            let slot = symmetry.slot_seen_from(rank as usize, slot);
            let rank = symmetry.representative(rank as usize) as u32;
            (0, Signal::Flag { rank, stripe, slot, times })
        }
        Signal::End { .. } => (node, signal),
    }
}

/// Which signals have been given.
pub struct GivenSignals<'job, T> {
    signals: &'job Signals,
    /// How many ranks have yet to give each signal.
    missing: Vec<u32>,
    /// When the last rank so far gave each signal.
    times: Vec<T>,
    /// How many signals each rank has given, and has waited for.
    progress: Vec<(usize, usize)>,
    /// The ranks that wait for each signal.
    waiting: HashMap<u32, Vec<usize>>,
}

impl<'job, T: Instant> GivenSignals<'job, T> {
    pub fn none(signals: &'job Signals) -> Self {
        GivenSignals {
            signals,
            missing: signals.givers.clone(),
            times: vec![T::BEGIN; signals.givers.len()],
            progress: vec![(0, 0); signals.given.len()],
            waiting: HashMap::new(),
        }
    }

    /// Notes that a rank gives its next signal. Returns the ranks that need not wait for it any longer.
    pub fn give(&mut self, rank: usize, time: T) -> Vec<usize> {
        let (given, _) = &mut self.progress[rank];
        let number = self.signals.given[rank][*given];
        *given += 1;
        let (missing, last) = (&mut self.missing[number as usize], &mut self.times[number as usize]);
        *missing -= 1;
        *last = last.or_later(time);
        if *missing == 0 { self.waiting.remove(&number).unwrap_or_default() } else { Vec::new() }
    }

    /// Returns when the next signal that a rank expects was given. `None` if it is not given yet: the rank
    /// then waits.
    pub fn expect(&mut self, rank: usize) -> Option<T> {
        let (_, expected) = &mut self.progress[rank];
        let number = self.signals.expected[rank][*expected];
        if self.missing[number as usize] > 0 {
            self.waiting.entry(number).or_default().push(rank);
            return None;
        }
        *expected += 1;
        Some(self.times[number as usize])
    }
}
