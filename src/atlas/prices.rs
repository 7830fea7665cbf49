//! Prices candidates for one number of ranks and bytes.

use super::Candidate;
use crate::algorithms::{Collective, Cut, Problem};
use crate::cost::simulation::SimulationError;
use crate::cost::{Machine, Prediction};
use crate::parallel;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A candidate and what it costs.
#[derive(Clone, Debug)]
pub struct Price {
    pub candidate: Candidate,
    /// What it costs, or why it has no price: it cannot serve, or is too large to be simulated.
    pub prediction: Result<Prediction, SimulationError>,
}

/// Returns the prices of candidates, the cheapest first and those without a price last. `on` has the ranks, where
/// it matters also their neighbours, and their nodes if they are not where the machine places them. Uses all
/// processors, and calls `observe` with the fraction of the work that is done.
pub fn prices(
    candidates: &[Candidate],
    machine: &Machine,
    on: &Problem,
    bytes: usize,
    observe: impl Fn(f64) + Sync,
) -> Result<Vec<Price>, SimulationError> {
    let found = Mutex::new(Vec::new());
    let done = AtomicUsize::new(0);
    let numbered: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
    parallel::for_each(&numbered, |&(number, &candidate)| {
        let problem = candidate.problem_on(on, bytes);
        let simulated = candidate.simulation(&problem, machine);
        let prediction = match simulated.and_then(|mut simulation| simulation.predict(bytes)) {
            Err(error @ (SimulationError::DoesNotServe(_) | SimulationError::TooManyPosts { .. })) => {
                Err(error)
            }
            other => Ok(other?),
        };
        let price = Price { candidate, prediction };
        found.lock().unwrap_or_else(PoisonError::into_inner).push((number, price));
        observe((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / candidates.len() as f64);
        Ok(())
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|(one, price), (other, another)| {
        price.time().total_cmp(&another.time()).then(one.cmp(other))
    });
    Ok(found.into_iter().map(|(_, price)| price).collect())
}

/// Returns a collective that has prices by itself. Fails with the reason if they depend on who the neighbours are.
pub fn priceable(collective: Collective) -> Result<Collective, String> {
    match collective.cut() {
        Cut::Edges => {
            Err(format!("{} has no price: it depends on who the neighbours are", collective.name()))
        }
        _ => Ok(collective),
    }
}

impl Price {
    /// Returns seconds; infinite if the candidate has no price.
    pub fn time(&self) -> f64 {
        self.prediction.as_ref().map_or(f64::INFINITY, Prediction::time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atlas::Sweep;
    use crate::cost::{Shared, simulate};

    #[test]
    fn the_cheapest_comes_first_and_who_cannot_serve_last() {
        let shared =
            Shared { single_copy_time: Some(2e-9.into()), ..Shared::copying_twice(1e-6, 1e-9.into()) };
        let machine =
            Machine { ranks_per_node: 7, shared: Some(shared), ..Machine::hockney(1e-5, 1e-9, 0.0) };
        let candidates = Candidate::all(Collective::Allgather, Sweep::Parameters);
        let prices = prices(&candidates, &machine, &Problem::new(7), 1000, |_| {}).unwrap();
        assert_eq!(prices.len(), candidates.len());
        assert!(prices.is_sorted_by(|one, other| one.time() <= other.time()));
        let last = prices.last().unwrap();
        assert_eq!(last.candidate.algorithm.name, "neighbor_exchange");
        assert_eq!(
            last.prediction.as_ref().unwrap_err().to_string(),
            "it cannot serve this: the number of ranks is odd"
        );
        for price in &prices[..prices.len() - 1] {
            let problem = price.candidate.problem(7, 1000);
            let expected =
                simulate(price.candidate.collective, price.candidate.algorithm, &problem, 1000, &machine)
                    .unwrap();
            assert_eq!(price.prediction, Ok(expected));
        }
    }
}
