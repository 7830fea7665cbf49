//! Every registered algorithm costs what its formula says: the formula is compared with what the schedules of all ranks
//! do, for all sizes up to 128. The rounds of neighbourhood collectives depend on the order in which messages are posted;
//! their formula gives the fewest possible, and its square the most.

use rustcoll::algorithms::{Algorithm, Collective, Cut, Problem, REGISTRY, default_radix};
use rustcoll::cost::Cost;
use rustcoll::verify;

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

/// The problems above have the larger group first; but which one that is decides only about the numbers of the ranks.
#[test]
fn groups_may_be_exchanged() {
    let is_between_groups = |problem: &Problem| problem.remote > 0;
    check_all(2..=32, is_between_groups, |algorithm, problem| {
        let (cost, exchanged) = ((algorithm.cost)(problem), (algorithm.cost)(&problem.exchanged()));
        assert_eq!(cost, exchanged, "{} {}, {problem:?}", algorithm.collective.name(), algorithm.name);
    });
}

/// Asserts something of the selected problems of every algorithm.
fn check_all(
    sizes: impl IntoIterator<Item = usize>,
    selected: fn(&Problem) -> bool,
    check: fn(&Algorithm, &Problem),
) {
    let check = |algorithm: &Algorithm, problem: &Problem| {
        check(algorithm, problem);
        Ok::<(), ()>(())
    };
    verify::check_all(REGISTRY, sizes, selected, check).expect("checks panic if they fail");
}

/// Some roots and radices, among them the extreme ones. In place the same messages are sent, which few ranks show.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, in_place, radix, .. } = *problem;
    (size <= 16 || !in_place)
        && [0, 1, size / 2, size - 1].contains(&root)
        && [2, 3, default_radix(size), size].contains(&radix)
}

fn assert_cost(algorithm: &Algorithm, problem: &Problem) {
    let schedules: Vec<_> = (0..problem.size).map(|rank| algorithm.program(problem, rank)).collect();
    let label = format!("{} {}, {problem:?}", algorithm.collective.name(), algorithm.name);
    let (counted, mut formula) = (Cost::count(&schedules), (algorithm.cost)(problem));
    if algorithm.collective.cut() == Cut::Edges {
        let bounds = formula.rounds..=formula.rounds.pow(2);
        assert!(bounds.contains(&counted.rounds), "{label}: {} rounds, not {bounds:?}", counted.rounds);
        formula.rounds = counted.rounds;
    }
    for ((field, formula), (_, counted)) in formula.fields().into_iter().zip(counted.fields()) {
        assert_eq!(formula, counted, "{label}: {field}, formula and count");
    }
}
