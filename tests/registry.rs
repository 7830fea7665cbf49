//! Every registered algorithm is verified: for all small sizes in every way it can be called, for larger sizes in a
//! selection of ways.

mod common;

use common::check_all;
use rustcoll::algorithms::{Algorithm, Problem, default_radix};
use rustcoll::verify::verify;

#[test]
fn all_problems_up_to_64_ranks() {
    check_all((1..=64).rev(), |_| true, assert_verified);
}

#[test]
#[ignore = "takes minutes"]
fn selected_problems_up_to_1024_ranks() {
    let sizes = [1024, 1023, 1000, 512, 511, 256, 255, 129, 128, 127, 100, 65];
    check_all(sizes, is_selected, assert_verified);
}

/// Some roots and radices, among them the extreme ones.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, radix, segments, .. } = *problem;
    // Many segments of many ranks need more memory than a test should.
    (size <= 256 || segments <= 2)
        && [0, 1, size / 2 + 1, size - 1].contains(&root)
        && [2, 3, default_radix(size), size / 2, size].contains(&radix)
}

fn assert_verified(algorithm: &Algorithm, problem: &Problem) {
    if let Err(violation) = verify(algorithm, problem) {
        panic!("{} {}, {problem:?}: {violation}", algorithm.collective.name(), algorithm.name);
    }
}
