//! Every registered algorithm costs what its formula says: the formula is compared with what the schedules of all ranks
//! do, for all sizes up to 128.

mod common;

use common::check_all;
use rustcoll::algorithms::{Algorithm, Collective, Problem, default_radix};
use rustcoll::cost::Cost;

#[test]
fn formulas_give_what_is_counted() {
    check_all((1..=128).rev(), is_selected, assert_cost);
}

/// Segments of the parts of ranks, which only come about where there are more segments than ranks.
#[test]
fn formulas_give_what_is_counted_with_many_segments() {
    let algorithm = Collective::Allreduce.algorithm("ring_segmented").unwrap();
    for size in 1..=20 {
        for segments in [size + 1, 3 * size, 4 * size + 1] {
            assert_cost(algorithm, &Problem { segments, ..Problem::new(size) });
        }
    }
}

/// Some roots and radices, among them the extreme ones. In place the same messages are sent, which few ranks show.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, in_place, radix, .. } = *problem;
    (size <= 16 || !in_place)
        && [0, 1, size / 2, size - 1].contains(&root)
        && [2, 3, default_radix(size), size].contains(&radix)
}

fn assert_cost(algorithm: &Algorithm, problem: &Problem) {
    let schedules: Vec<_> = (0..problem.size).map(|rank| (algorithm.schedule)(problem, rank)).collect();
    let counted = Cost::count(&schedules).fields();
    for ((field, counted), (_, formula)) in counted.into_iter().zip((algorithm.cost)(problem).fields()) {
        let name = algorithm.name;
        let collective = algorithm.collective.name();
        assert_eq!(formula, counted, "{collective} {name}, {problem:?}: {field}, formula and count");
    }
}
