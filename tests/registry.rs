//! Verifies every registered algorithm: in every way it can be called on up to 32 ranks, with some roots and radices
//! on up to 64. Ignored tests verify every way on up to 64 ranks, and some on up to 1024; `make check-long` runs them.

use rustcoll::algorithms::{Algorithm, Problem, REGISTRY, Requirement, default_radix};
use rustcoll::verify::{check_all, verify};

#[test]
fn all_problems_up_to_32_ranks() {
    verify_all((1..=32).rev(), |_| true);
}

#[test]
fn selected_problems_up_to_64_ranks() {
    verify_all((33..=64).rev(), is_selected);
}

/// With so many nodes, a node's ranks show the blocks of the other nodes in groups.
#[test]
fn more_than_64_nodes() {
    let selected = |problem: &Problem| {
        let Problem { size, root, radix, .. } = *problem;
        problem.nodes.number() > 64 && root % 71 == 0 && radix == default_radix(size)
    };
    verify_all([140], selected);
}

/// The builder samples the rounds of long loops. Nodes that differ between the samples must prevent a loop, too.
#[test]
fn uneven_nodes_among_many_even_ones() {
    let populations = (0..70).map(|node| match node {
        10 => 3,
        11 => 1,
        _ => 2,
    });
    let nodes: Vec<u32> =
        populations.enumerate().flat_map(|(node, ranks)| std::iter::repeat_n(node as u32, ranks)).collect();
    let size = nodes.len();
    let problem = Problem { nodes: nodes.into(), ..Problem::new(size) };
    let serves = |algorithm: &&&Algorithm| {
        algorithm.takes_nodes()
            && !algorithm.requires.contains(&Requirement::OneNode)
            && algorithm.serves(size, 0, true).is_ok()
    };
    for algorithm in REGISTRY.iter().filter(serves) {
        for radix in [2, default_radix(size)] {
            let problem = Problem { radix, segments: 3, ..problem.clone() };
            verify(algorithm, &problem)
                .unwrap_or_else(|violation| panic!("{}: {violation}", algorithm.title()));
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn all_problems_up_to_64_ranks() {
    verify_all((1..=64).rev(), |_| true);
}

#[test]
#[ignore = "takes a quarter of an hour and 10 GB"]
fn selected_problems_up_to_1024_ranks() {
    let sizes = [1024, 1023, 600, 512, 511, 256, 255, 129, 128, 127, 100, 65];
    verify_all(sizes, is_selected);
}

/// Selects some roots and radices, including the extreme ones.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, radix, segments, .. } = *problem;
    // On many ranks, many segments and large radices would need too much memory and time.
    (size <= 256 || segments <= 2 && radix <= default_radix(size))
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
