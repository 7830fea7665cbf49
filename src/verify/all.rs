//! Goes through all problems of many algorithms.

use super::problems;
use crate::algorithms::{Algorithm, Problem};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Checks the selected problems of these algorithms at these sizes, on all processors, in the order of the sizes. Begins no
/// further problem once a check has failed, and returns the first failure.
pub fn check_all<Failure: Send>(
    algorithms: &[&'static Algorithm],
    sizes: impl IntoIterator<Item = usize>,
    selected: impl Fn(&Problem) -> bool + Sync,
    check: impl Fn(&'static Algorithm, &Problem) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let of_size = |size| algorithms.iter().map(move |&algorithm| (size, algorithm));
    let tasks: Vec<(usize, &'static Algorithm)> = sizes.into_iter().flat_map(of_size).collect();
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        while let Some(&(size, algorithm)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            for problem in problems(algorithm, size).iter().filter(|problem| selected(problem)) {
                if let Err(found) = check(algorithm, problem) {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(found);
                    next.store(tasks.len(), Ordering::Relaxed);
                    return;
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(work);
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, REGISTRY};
    use std::collections::HashMap;

    type Labelled = (Collective, &'static str, Problem);

    /// How often each problem stands in a list.
    fn counted(list: impl IntoIterator<Item = Labelled>) -> HashMap<Labelled, usize> {
        let mut counts = HashMap::new();
        list.into_iter().for_each(|problem| *counts.entry(problem).or_default() += 1);
        counts
    }

    #[test]
    fn every_selected_problem_is_checked_once() {
        let labelled = |algorithm: &Algorithm, problem: &Problem| {
            (algorithm.collective, algorithm.name, problem.clone())
        };
        let is_selected = |problem: &Problem| problem.root == 0;
        let all = REGISTRY.iter().flat_map(|algorithm| {
            let problems = (1..=5).flat_map(|size| problems(algorithm, size)).filter(is_selected);
            problems.map(|problem| labelled(algorithm, &problem))
        });
        let checked = Mutex::new(Vec::new());
        let check = |algorithm: &'static Algorithm, problem: &Problem| {
            checked.lock().unwrap().push(labelled(algorithm, problem));
            Ok::<(), ()>(())
        };
        check_all(REGISTRY, 1..=5, is_selected, check).unwrap();
        assert!(counted(checked.into_inner().unwrap()) == counted(all));
    }

    #[test]
    fn the_first_failure_ends_it() {
        let ring = Collective::Allreduce.algorithm("ring").unwrap();
        let fail =
            |_: &Algorithm, problem: &Problem| if problem.size < 7 { Ok(()) } else { Err(problem.size) };
        let failure = check_all(&[ring], 1..1000, |_| true, fail).unwrap_err();
        // Several processors may have begun one each.
        assert!((7..7 + thread::available_parallelism().unwrap().get()).contains(&failure));
    }
}
