//! Every registered algorithm is verified: for all small sizes in every way it can be called, for larger sizes in a
//! selection of ways.

use rustcoll::algorithms::{Algorithm, Problem, REGISTRY, default_radix};
use rustcoll::verify::{check_all, verify};

#[test]
fn all_problems_up_to_64_ranks() {
    verify_all((1..=64).rev(), |_| true);
}

#[test]
#[ignore = "takes half an hour and 14 GB"]
fn selected_problems_up_to_1024_ranks() {
    let sizes = [1024, 1023, 1000, 512, 511, 256, 255, 129, 128, 127, 100, 65];
    verify_all(sizes, is_selected);
}

/// Some roots and radices, among them the extreme ones.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, radix, segments, .. } = *problem;
    // Many segments of many ranks need more memory than a test should.
    (size <= 256 || segments <= 2)
        && [0, 1, size / 2 + 1, size - 1].contains(&root)
        && [2, 3, default_radix(size), size / 2, size].contains(&radix)
}

fn verify_all(sizes: impl IntoIterator<Item = usize>, selected: fn(&Problem) -> bool) {
    let check = |algorithm: &Algorithm, problem: &Problem| {
        verify(algorithm, problem)
            .map_err(|violation| format!("{}, {problem:?}: {violation}", algorithm.title()))
    };
    check_all(REGISTRY, sizes, selected, check).unwrap_or_else(|failure| panic!("{failure}"));
}
