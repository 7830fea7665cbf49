//! Every registered algorithm costs what its formula says: the formula is compared with what the schedules of all ranks
//! do, for all sizes up to 24 and some larger ones. What is counted is also what is simulated, where a flag takes as long as a
//! message. The rounds of neighbourhood collectives depend on the order in which messages are posted;
//! their formula gives the fewest possible, and its square the most; a `circulant_pipelined` broadcast may take one more than
//! its formula says. Where nodes have different numbers of ranks, formulas of some algorithms add the most that a rank has to
//! do in each phase.

use rustcoll::algorithms::{
    Algorithm, Collective, Cut, Problem, RECURSIVE_DOUBLING_ALLREDUCE, REGISTRY, Requirement, default_radix,
};
use rustcoll::cost::simulation::Traffic;
use rustcoll::cost::{Cost, Machine, simulate};
use rustcoll::selection::Measure;
use rustcoll::verify;
use std::collections::{HashMap, HashSet};

/// Beyond small sizes, those next to powers of two, and sizes that have many divisors.
#[test]
fn formulas_counts_and_simulations_agree() {
    let sizes = [64, 48, 33, 32, 31].into_iter().chain((1..=24).rev());
    check_all(sizes, is_selected, assert_all);
}

#[test]
#[ignore = "takes minutes"]
fn formulas_counts_and_simulations_agree_up_to_128_ranks() {
    check_all((1..=128).rev(), is_selected, assert_all);
}

fn assert_all(algorithm: &Algorithm, problem: &Problem) {
    let counted = assert_cost(algorithm, problem);
    assert_simulated(algorithm, problem, counted);
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
        let (cost, exchanged) = (algorithm.cost(problem), algorithm.cost(&problem.exchanged()));
        assert_eq!(cost, exchanged, "{}, {problem:?}", algorithm.title());
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

/// Returns what is counted.
fn assert_cost(algorithm: &Algorithm, problem: &Problem) -> Cost {
    let schedules = algorithm.programs(problem);
    let label = format!("{}, {problem:?}", algorithm.title());
    let (cost, mut formula) = (Cost::count(&schedules), algorithm.cost(problem));
    let counted = cost;
    if algorithm.contract().cut() == Cut::Edges {
        let bounds = formula.rounds..=formula.rounds.pow(2);
        assert!(bounds.contains(&counted.rounds), "{label}: {} rounds, not {bounds:?}", counted.rounds);
        formula.rounds = counted.rounds;
    }
    if may_queue(algorithm) && !is_bound(algorithm, problem) {
        let bounds = formula.rounds..=formula.rounds + 1;
        assert!(bounds.contains(&counted.rounds), "{label}: {} rounds, not {bounds:?}", counted.rounds);
        formula.rounds = counted.rounds;
    }
    for ((field, formula), (_, counted)) in formula.fields().into_iter().zip(counted.fields()) {
        if is_bound(algorithm, problem) {
            // Who begins later meets busy partners, so that it may take up to twice as many rounds.
            let bound = if field == "rounds" { 2 * formula } else { formula };
            assert!(counted <= bound, "{label}: {field}, formula {formula} and count {counted}");
            continue;
        }
        assert_eq!(formula, counted, "{label}: {field}, formula and count");
    }
    cost
}

/// Whether messages that are sent as early as they can be may come in each other's way, for one round at most. The formula
/// gives the fewest rounds possible.
fn may_queue(algorithm: &Algorithm) -> bool {
    let names = ["circulant_pipelined", "shared_leaders_pipelined"];
    algorithm.contract() == Collective::Bcast && names.contains(&algorithm.name)
}

/// Algorithms whose rounds need not be the time that is simulated where a message takes 1 and ports let one go in that
/// time. When rounds are counted, no message travels before it is asked for, and both its ends are busy meanwhile; a
/// simulated one may come early and stand in the way of another, and has left before it arrives. Several ranks of a node that
/// send to others share its port.
const NOT_IN_LOCKSTEP: [&str; 12] = [
    "binary_blocks",
    "binary_in_order",
    "binomial_in_order",
    "circulant_pipelined",
    "inter_leaders",
    "node_aware",
    "node_aware_chain",
    "node_aware_circulant",
    "node_aware_knomial",
    "rabenseifner",
    "shared_leaders_pipelined",
    "shared_multi_leaders",
];

/// The traffic of the busiest rank, with blocks of one byte, and the time of messages that all take 1.
fn assert_simulated(algorithm: &Algorithm, problem: &Problem, counted: Cost) {
    let label = format!("{}, {problem:?}", algorithm.title());
    let bytes = match Measure::of(algorithm.contract()) {
        Measure::Vector => algorithm.program(problem, 0).blocks,
        Measure::AllBlocks => problem.size,
        Measure::Block | Measure::Nothing => 1,
    };
    let on_one_node = |machine| Machine { ranks_per_node: problem.size, ..machine };
    let simulated = |gap| {
        let machine = on_one_node(Machine::log_gp(1.0, 0.0, gap, 0.0));
        simulate(algorithm.contract(), algorithm, problem, bytes, &machine)
            .unwrap_or_else(|error| panic!("{label}: {error}"))
    };
    let prediction = simulated(1.0);
    let lengths = exchange_of_lengths(algorithm, problem);
    let expected = Traffic {
        messages: (counted.messages + lengths.messages) as u64,
        bytes: (counted.blocks + 8 * lengths.blocks) as f64,
    };
    assert_eq!(prediction.busiest, expected, "{label}");
    if lengths != Cost::default() || algorithm.contract().cut() == Cut::Edges {
        return;
    }
    let rounds = counted.rounds as f64;
    if !NOT_IN_LOCKSTEP.contains(&algorithm.name) && !is_bound(algorithm, problem) {
        assert_eq!(prediction.time(), rounds, "{label}");
    }
    if problem.size <= 32 {
        let critical_path = simulated(0.0).time();
        assert!(critical_path <= rounds.min(prediction.time()), "{label}");
    }
}

/// Algorithms whose busiest rank, if nodes have different numbers of ranks, depends on which these are: their formulas add
/// the most that a rank has to do in each phase, as if all began it together.
const BOUNDS_ON_UNEVEN_NODES: &[(Collective, &str)] = &[
    (Collective::Allgather, "node_aware"),
    (Collective::Allreduce, "node_aware"),
    (Collective::Allreduce, "node_aware_circulant"),
    (Collective::Alltoall, "node_aware"),
    (Collective::Bcast, "node_aware_chain"),
    (Collective::Bcast, "node_aware_knomial"),
    (Collective::Reduce, "node_aware_chain"),
    (Collective::Reduce, "node_aware_knomial"),
    (Collective::ReduceScatter, "node_aware"),
    (Collective::Allgather, "shared_leaders"),
    (Collective::Allgather, "shared_multi_leaders"),
    (Collective::Allreduce, "shared_leaders"),
    (Collective::Allreduce, "shared_multi_leaders"),
    (Collective::Alltoall, "shared_multi_leaders"),
    (Collective::Barrier, "shared_leaders"),
    (Collective::Bcast, "shared_leaders"),
    (Collective::Bcast, "shared_leaders_pipelined"),
    (Collective::Reduce, "shared_leaders"),
    (Collective::Reduce, "shared_leaders_pipelined"),
    (Collective::ReduceScatter, "shared_leaders"),
    (Collective::ReduceScatter, "shared_multi_leaders"),
];

fn is_bound(algorithm: &Algorithm, problem: &Problem) -> bool {
    let mut populations: HashMap<u32, usize> = HashMap::new();
    problem.nodes.iter().for_each(|node| *populations.entry(*node).or_default() += 1);
    let are_even = populations.values().collect::<HashSet<_>>().len() <= 1;
    !are_even && BOUNDS_ON_UNEVEN_NODES.contains(&(algorithm.contract(), algorithm.name))
}

/// What comes before the data.
fn exchange_of_lengths(algorithm: &Algorithm, problem: &Problem) -> Cost {
    let requires = |requirement| algorithm.requires.contains(&requirement);
    match () {
        () if requires(Requirement::BlockLengths) => algorithm.cost(problem),
        () if requires(Requirement::LongestBlock) => RECURSIVE_DOUBLING_ALLREDUCE.cost(problem),
        () => Cost::default(),
    }
}
