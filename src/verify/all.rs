//! Goes through all problems of many algorithms.

use super::problems;
use crate::algorithms::{Algorithm, Problem};
use crate::parallel;

/// Checks the selected problems of these algorithms at these sizes, on all processors, in the order of the
/// sizes. After a failure, begins no further size or algorithm. Returns the failure that is first in that
/// order.
pub fn check_all<Failure: Send>(
    algorithms: &[&'static Algorithm],
    sizes: impl IntoIterator<Item = usize>,
    selected: impl Fn(&Problem) -> bool + Sync,
    check: impl Fn(&'static Algorithm, &Problem) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let of_size = |size| algorithms.iter().map(move |&algorithm| (size, algorithm));
    let tasks: Vec<(usize, &'static Algorithm)> = sizes.into_iter().flat_map(of_size).collect();
    parallel::for_each(&tasks, |&(size, algorithm)| {
        let problems = problems(algorithm, size);
        let mut selected = problems.iter().filter(|problem| selected(problem));
        selected.try_for_each(|problem| check(algorithm, problem))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, REGISTRY};
    use std::collections::HashMap;
    use std::sync::Mutex;

    type Labelled = (Collective, &'static str, Problem);

    /// How often each problem is in a list.
    fn counted(list: impl IntoIterator<Item = Labelled>) -> HashMap<Labelled, usize> {
        let mut counts = HashMap::new();
        list.into_iter().for_each(|problem| *counts.entry(problem).or_default() += 1);
        counts
    }

    #[test]
    fn every_selected_problem_is_checked_once() {
        let labelled = |algorithm: &Algorithm, problem: &Problem| {
            (algorithm.contract(), algorithm.name, problem.clone())
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
    fn the_first_failure_ends_it_and_is_returned() {
        let ring = Collective::Allreduce.algorithm("ring").unwrap();
        let fail =
            |_: &Algorithm, problem: &Problem| if problem.size < 7 { Ok(()) } else { Err(problem.size) };
        assert_eq!(check_all(&[ring], 1..1000, |_| true, fail), Err(7));
    }
}
