//! What several tests go through.

use rustcoll::algorithms::{Algorithm, Problem, REGISTRY};
use rustcoll::verify::problems;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Checks the selected problems of every algorithm at these sizes, on all processors.
pub fn check_all(
    sizes: impl IntoIterator<Item = usize>,
    selected: impl Fn(&Problem) -> bool + Sync,
    check: impl Fn(&Algorithm, &Problem) + Sync,
) {
    let tasks: Vec<(usize, &Algorithm)> =
        sizes.into_iter().flat_map(|size| REGISTRY.iter().map(move |&algorithm| (size, algorithm))).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                while let Some(&(size, algorithm)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for problem in problems(algorithm, size).iter().filter(|problem| selected(problem)) {
                        check(algorithm, problem);
                    }
                }
            });
        }
    });
}
