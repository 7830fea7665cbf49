//! The candidates for a call, and those that predictions exclude.

use crate::candidates::{contestant, predicted};
use measurements::Contestant;
use rustcoll::algorithms::{Algorithm, Collective, Problem};
use rustcoll::atlas::Candidate;
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::Simulation;
use rustcoll::selection::Call;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The part of the time that other parameters must save, by prediction, to replace the default parameters.
const WORTH_NAMING: f64 = 0.01;

/// On more ranks, only default parameters are predicted, because simulations take long. The search then finds
/// other parameters by steps.
const MANY_RANKS: usize = 64;

/// A candidate of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    /// The algorithm with the parameters that are predicted to be the fastest.
    pub contestant: Contestant,
    /// The predicted time in seconds; `None` if there is no prediction.
    pub predicted: Option<f64>,
}

/// The candidates of a cell, in the registry's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// The candidates to measure.
    pub entrants: Vec<Entrant>,
    /// The candidates with a predicted time that is too long.
    pub hopeless: Vec<Entrant>,
    /// The shortest predicted time, in seconds.
    pub least: Option<f64>,
}

impl Field {
    fn of(entrants: Vec<Entrant>, hopeless: f64) -> Field {
        let least = entrants.iter().filter_map(|entrant| entrant.predicted).reduce(f64::min);
        let most = least.map_or(f64::INFINITY, |least| least * hopeless);
        let (entrants, hopeless) =
            entrants.into_iter().partition(|entrant| entrant.predicted.is_none_or(|time| time <= most));
        Field { entrants, hopeless, least }
    }
}

/// Returns the fields of calls that differ only in their bytes. A candidate with a prediction of more than `hopeless`
/// times the shortest one is hopeless. A candidate without a prediction, such as a mock-up, is an entrant.
pub fn fields(calls: &[Call], machine: &Machine, hopeless: f64) -> Vec<Field> {
    let mut entrants: Vec<Vec<Entrant>> = vec![Vec::new(); calls.len()];
    let Some(first) = calls.first() else { return Vec::new() };
    for algorithm in first.collective.algorithms().filter(|algorithm| is_sensible(algorithm, first)) {
        let mut predictor =
            Predictor { collective: first.collective, algorithm, machine, simulations: HashMap::new() };
        for (call, entrants) in calls.iter().zip(&mut entrants) {
            entrants.push(predictor.best(call.size, call.bytes));
        }
    }
    entrants.into_iter().map(|entrants| Field::of(entrants, hopeless)).collect()
}

/// Whether an algorithm serves a call and is not meant for another placement of ranks.
fn is_sensible(algorithm: &Algorithm, call: &Call) -> bool {
    let is_flat = call.nodes == Some(1) || call.ranks_per_node == Some(1);
    let is_for_nodes = algorithm.takes_nodes() && !algorithm.takes_shared_memory();
    call.is_served_by(algorithm).is_ok() && !(is_flat && is_for_nodes)
}

/// Predicts the times of one algorithm.
struct Predictor<'machine> {
    collective: Collective,
    algorithm: &'static Algorithm,
    machine: &'machine Machine,
    /// By problem and stripe. One simulation serves all sizes that have the same problem and stripe.
    simulations: HashMap<(Problem, Option<usize>), Simulation>,
}

impl Predictor<'_> {
    /// Returns the algorithm with its fastest parameters, or with the default ones unless others save enough.
    fn best(&mut self, ranks: usize, bytes: usize) -> Entrant {
        let mut candidates = predicted(self.collective, self.algorithm, ranks, bytes);
        if ranks > MANY_RANKS {
            candidates.truncate(1);
        }
        let default = (candidates[0], self.seconds(&candidates[0], ranks, bytes));
        let best = candidates[1..].iter().fold(default, |best, candidate| {
            let seconds = self.seconds(candidate, ranks, bytes);
            match (seconds, best.1) {
                (Some(time), Some(least)) if time < least * (1.0 - WORTH_NAMING) => (*candidate, seconds),
                _ => best,
            }
        });
        Entrant { contestant: contestant(&best.0), predicted: best.1 }
    }

    /// Returns the predicted time; `None` if there is no prediction.
    fn seconds(&mut self, candidate: &Candidate, ranks: usize, bytes: usize) -> Option<f64> {
        if self.algorithm.is_mock_up() {
            return None;
        }
        let problem = candidate.problem(ranks, bytes);
        let stripe = candidate.stripe();
        let simulation = match self.simulations.entry((problem, stripe)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let simulation = candidate.simulation(&place.key().0, self.machine).ok()?;
                place.insert(simulation)
            }
        };
        simulation.predict(bytes).ok().map(|prediction| prediction.time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(collective: Collective, ranks_per_node: usize, bytes: &[usize]) -> Vec<Call> {
        let call = |&bytes| Call {
            nodes: Some(8 / ranks_per_node),
            ranks_per_node: Some(ranks_per_node),
            shares_memory: ranks_per_node > 1,
            ..Call::new(collective, 8, bytes)
        };
        bytes.iter().map(call).collect()
    }

    fn names(entrants: &[Entrant]) -> Vec<String> {
        entrants.iter().map(|entrant| entrant.contestant.to_string()).collect()
    }

    #[test]
    fn who_is_predicted_to_take_long_is_not_measured() {
        let machine = Machine::hockney(1e-3, 1e-7, 0.0);
        let fields = fields(&calls(Collective::Alltoall, 1, &[4, 1 << 18]), &machine, 3.0);
        let [short, long] = &fields[..] else { panic!("two calls have two fields") };
        assert!(names(&short.hopeless).contains(&"rustcoll:pairwise".to_owned()), "{short:?}");
        // Messages that go all at once take one latency.
        assert!(names(&short.entrants).contains(&"rustcoll:bruck:radix=8".to_owned()), "{short:?}");
        assert!(names(&long.entrants).contains(&"rustcoll:pairwise".to_owned()), "{long:?}");
        for field in &fields {
            let least = field.least.unwrap();
            assert!(field.entrants.iter().all(|one| one.predicted.is_none_or(|time| time <= 3.0 * least)));
            assert!(field.hopeless.iter().all(|one| one.predicted.unwrap() > 3.0 * least));
        }
        // A mock-up has no prediction.
        let unknown: Vec<&Entrant> = short.entrants.iter().filter(|one| one.predicted.is_none()).collect();
        assert_eq!(unknown.len(), 1);
        assert_eq!(unknown[0].contestant.algorithm.as_deref(), Some("alltoall_as_alltoallv"));
    }

    #[test]
    fn placement_decides_who_may_serve() {
        let machine = |ranks_per_node| Machine { ranks_per_node, ..Machine::hockney(1e-6, 1e-9, 0.0) };
        let found = |ranks_per_node| {
            let calls = calls(Collective::Bcast, ranks_per_node, &[1024]);
            names(&fields(&calls, &machine(ranks_per_node), f64::INFINITY)[0].entrants).join(" ")
        };
        for (ranks_per_node, nodes, leaders, shared) in
            [(1, false, false, false), (4, true, true, false), (8, false, true, true)]
        {
            let found = found(ranks_per_node) + " ";
            assert_eq!(found.contains("rustcoll:node_aware"), nodes, "{ranks_per_node}: {found}");
            assert_eq!(found.contains("rustcoll:shared_leaders"), leaders, "{ranks_per_node}: {found}");
            assert_eq!(found.contains("rustcoll:shared "), shared, "{ranks_per_node}: {found}");
            assert!(!found.contains("inter_"), "{found}");
        }
    }
}
