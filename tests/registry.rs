//! Every registered algorithm is verified: for all small sizes in every way it can be called, for larger sizes in a
//! selection of ways.

use rustcoll::algorithms::{Algorithm, Problem, REGISTRY, default_radix};
use rustcoll::verify::{problems, verify};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[test]
fn all_problems_up_to_64_ranks() {
    verify_all((1..=64).rev(), |_| true);
}

#[test]
#[ignore = "takes minutes"]
fn selected_problems_up_to_1024_ranks() {
    verify_all([1024, 1023, 1000, 512, 511, 256, 255, 129, 128, 127, 100, 65], is_selected);
}

/// Some roots and radices, among them the extreme ones.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, radix, segments, .. } = *problem;
    // Many segments of many ranks need more memory than a test should.
    (size <= 256 || segments <= 2)
        && [0, 1, size / 2 + 1, size - 1].contains(&root)
        && [2, 3, default_radix(size), size / 2, size].contains(&radix)
}

/// Verifies the selected problems of every algorithm at these sizes, on all processors.
fn verify_all(sizes: impl IntoIterator<Item = usize>, selected: impl Fn(&Problem) -> bool + Sync) {
    let tasks: Vec<(usize, &Algorithm)> =
        sizes.into_iter().flat_map(|size| REGISTRY.iter().map(move |&algorithm| (size, algorithm))).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                while let Some(&(size, algorithm)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for problem in problems(algorithm, size).iter().filter(|problem| selected(problem)) {
                        assert_verified(algorithm, problem);
                    }
                }
            });
        }
    });
}

fn assert_verified(algorithm: &Algorithm, problem: &Problem) {
    if let Err(violation) = verify(algorithm, problem) {
        panic!("{} {}, {problem:?}: {violation}", algorithm.collective.name(), algorithm.name);
    }
}
