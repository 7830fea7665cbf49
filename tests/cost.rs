//! The costs that papers state for an algorithm must equal the counts in the schedules of all ranks. Counts
//! must equal the simulation, if a flag takes as long as a message.

use rustcoll::algorithms::Collective::*;
use rustcoll::algorithms::digits::{least_radix, with_one_nonzero_digit};
use rustcoll::algorithms::{Algorithm, Collective, Cut, Problem, REGISTRY, default_radix};
use rustcoll::cost::simulation::Traffic;
use rustcoll::cost::{ByteTime, Cost, Link, Machine, Port, Shared, simulate};
use rustcoll::selection::Measure;
use rustcoll::verify;

/// Returns rounds, and blocks that the busiest rank moves and reduces. That rank sends or receives one message in each
/// round.
type Formula = fn(&Problem) -> [usize; 3];

/// Statements of papers for any number of ranks.
const OF_ANY_SIZE: &[(&[Collective], &[&str], Formula)] = &[
    (&[Allgather], &["linear", "ring", "sparbit"], |problem| [others(problem), others(problem), 0]),
    (&[Allgather], &["bruck"], |problem| [digits(problem), others(problem), 0]),
    (&[Allgather], &["neighbor_exchange"], |problem| [problem.size / 2, others(problem), 0]),
    (&[Allgather], &["circulant"], |problem| [skips(problem), others(problem), 0]),
    (&[Allgather], &["pat"], |problem| [aggregated(problem), others(problem), 0]),
    (&[Alltoall], &["spread_out", "linear_window", "pairwise"], |problem| {
        [others(problem), others(problem), 0]
    }),
    (&[Alltoall], &["bruck", "bruck_modified"], |problem| [digits(problem), bruck_blocks(problem), 0]),
    (&[Allreduce], &["ring"], |problem| [2 * others(problem), 2 * others(problem), others(problem)]),
    (&[Allreduce], &["circulant"], |problem| [2 * skips(problem), 2 * others(problem), others(problem)]),
    (&[Barrier], &["dissemination"], |problem| [tokens(problem), tokens(problem), 0]),
    (&[Bcast], &["linear"], |problem| [others(problem), others(problem), 0]),
    (&[Bcast], &["binomial", "bine"], |problem| {
        [1, 1, 0].map(|each| each * problem.segments * doublings(problem.size))
    }),
    (&[Bcast], &["knomial"], |problem| [digits(problem), digits(problem), 0]),
    (&[Bcast], &["scatter_ring_allgather", "scatter_ring_allgather_opt"], |problem| {
        [doublings(problem.size) + others(problem), 2 * others(problem), 0]
    }),
    (&[Gather, Scatter], &["linear"], |problem| [others(problem), others(problem), 0]),
    (&[Gather, Scatter], &["binomial", "bine"], |problem| [doublings(problem.size), others(problem), 0]),
    (&[Reduce], &["linear"], |problem| [others(problem); 3]),
    (&[Reduce], &["binomial", "bine"], |problem| [problem.segments * doublings(problem.size); 3]),
    (&[Reduce], &["knomial"], |problem| [digits(problem); 3]),
    (&[ReduceScatter], &["ring", "pairwise"], |problem| [others(problem); 3]),
    (&[ReduceScatter], &["circulant"], |problem| [skips(problem), others(problem), others(problem)]),
    (&[ReduceScatter, ReduceScatterBlock], &["pat"], |problem| {
        [aggregated(problem), others(problem), others(problem)]
    }),
];

/// Statements for powers of two and whole vectors. With other numbers, ranks fold.
const OF_POWERS_OF_TWO: &[(&[Collective], &[&str], Formula)] = &[
    (&[Allgather], &["recursive_doubling"], |problem| [doublings(problem.size), others(problem), 0]),
    (&[Allreduce], &["recursive_doubling", "bine"], |problem| [doublings(problem.size); 3]),
    (&[Allreduce], &["rabenseifner", "rabenseifner_far", "bine_halves", "binary_blocks"], |problem| {
        [2 * doublings(problem.size), 2 * others(problem), others(problem)]
    }),
    (&[Bcast], &["scatter_recursive_doubling_allgather"], |problem| {
        [2 * doublings(problem.size), 2 * others(problem), 0]
    }),
    (&[Reduce], &["rabenseifner", "bine_halves"], |problem| {
        [2 * doublings(problem.size), 2 * others(problem), others(problem)]
    }),
    (&[ReduceScatter], &["recursive_halving"], |problem| {
        [doublings(problem.size), others(problem), others(problem)]
    }),
];

fn others(problem: &Problem) -> usize {
    problem.size - 1
}

fn doublings(size: usize) -> usize {
    size.next_power_of_two().ilog2() as usize
}

/// Returns messages by equation 2 of Fan et al. 2022. The root of a k-nomial tree has as many children.
fn digits(problem: &Problem) -> usize {
    with_one_nonzero_digit(problem.size, problem.radix)
}

/// Returns messages of a dissemination, with the least radix that gives as few rounds.
fn tokens(problem: &Problem) -> usize {
    with_one_nonzero_digit(problem.size, least_radix(problem.size, problem.radix))
}

/// Returns blocks by equation 3 of Fan et al. 2022: those of every value of every digit.
fn bruck_blocks(problem: &Problem) -> usize {
    let Problem { size, radix, .. } = *problem;
    let weights =
        std::iter::successors(Some(1), |weight| Some(weight * radix)).take_while(|&weight| weight < size);
    let with_digit = |weight: usize, digit: usize| {
        let (complete, rest) = (size / (weight * radix) * weight, size % (weight * radix));
        complete + rest.saturating_sub(digit * weight).min(weight)
    };
    weights.map(|weight| (1..radix).map(|digit| with_digit(weight, digit)).sum::<usize>()).sum()
}

/// Returns messages of a circulant graph (Träff 2024, at most k − 1 in a round): p shrinks to a k-th, rounded up.
fn skips(problem: &Problem) -> usize {
    let (mut reached, mut messages) = (problem.size, 0);
    while reached > 1 {
        let skip = reached.div_ceil(problem.radix);
        messages += reached.div_ceil(skip) - 1;
        reached = skip;
    }
    messages
}

/// Returns messages of aggregated trees (Jeaugey 2025), with the least power of two d ≥ 2 for which
/// ceil(p / d) ≤ window. Doubling reaches every d-th rank; d − 1 more messages reach the ranks in between.
fn aggregated(problem: &Problem) -> usize {
    let between = problem.size.div_ceil(problem.window).next_power_of_two().max(2);
    doublings(problem.size.div_ceil(between)) + between.min(problem.size) - 1
}

/// Returns the stated cost of an algorithm, if a paper states one.
fn stated(algorithm: &Algorithm, problem: &Problem) -> Option<Cost> {
    let of_powers =
        OF_POWERS_OF_TWO.iter().filter(|_| problem.size.is_power_of_two() && problem.segments == 1);
    let (.., formula) = OF_ANY_SIZE.iter().chain(of_powers).find(|(collectives, names, _)| {
        collectives.contains(&algorithm.contract()) && names.contains(&algorithm.name)
    })?;
    let [rounds, blocks, reduced] = formula(problem);
    Some(Cost { rounds, messages: rounds, blocks, reduced, read: 0 })
}

/// Tests small sizes, sizes next to powers of two, and sizes with many divisors.
#[test]
fn what_is_stated_counted_and_simulated_agrees() {
    let sizes = [64, 48, 33, 32, 31].into_iter().chain((1..=24).rev());
    check_all(sizes, is_selected, assert_costs);
}

#[test]
#[ignore = "takes minutes"]
fn what_is_stated_counted_and_simulated_agrees_up_to_128_ranks() {
    check_all((1..=128).rev(), is_selected, assert_costs);
}

/// Träff 2022 to 2024: k segments take k − 1 + ceil(log2 p) rounds. Messages that are sent as early as
/// possible may delay each other by one round.
#[test]
fn a_circulant_broadcast_takes_one_round_more_than_is_stated_at_most() {
    for collective in [Bcast, Reduce] {
        let algorithm = collective.algorithm("circulant_pipelined").unwrap();
        for size in 2..=40 {
            for segments in 1..=12 {
                let problem = Problem { segments, ..Problem::new(size) };
                let counted = Cost::count(&algorithm.programs(&problem));
                let rounds = segments - 1 + doublings(size);
                assert_eq!((counted.messages, counted.blocks), (rounds, rounds), "p={size} k={segments}");
                assert!(
                    (rounds..=rounds + 1).contains(&counted.rounds),
                    "p={size} k={segments}: {counted:?}"
                );
            }
        }
    }
}

/// Segments of the ranks' parts only exist if there are more segments than ranks.
#[test]
fn a_segmented_ring_passes_every_partial_sum_on() {
    let algorithm = Allreduce.algorithm("ring_segmented").unwrap();
    for size in 1..=20 {
        for segments in [1, size + 1, 3 * size, 4 * size + 1] {
            let problem = Problem { segments, ..Problem::new(size) };
            let sums = (size - 1) * segments.div_ceil(size);
            let stated =
                Cost { rounds: 2 * sums, messages: 2 * sums, blocks: 2 * sums, reduced: sums, read: 0 };
            assert_eq!(Cost::count(&algorithm.programs(&problem)), stated, "p={size}, {segments} segments");
        }
    }
}

/// In every round a segment advances by one rank (Sanders, Träff 2006).
#[test]
fn a_chain_of_scans_takes_a_round_for_each_rank_and_segment() {
    for collective in [Scan, Exscan] {
        let algorithm = collective.algorithm("chain").unwrap();
        for size in 2..=20 {
            for segments in 1..=12 {
                let problem = Problem { segments, ..Problem::new(size) };
                // The last rank of an exclusive scan passes nothing on.
                let reduced = if collective == Scan || size > 2 { segments } else { 0 };
                let stated = Cost {
                    rounds: size - 2 + segments,
                    messages: segments,
                    blocks: segments,
                    reduced,
                    read: 0,
                };
                assert_eq!(Cost::count(&algorithm.programs(&problem)), stated, "p={size} k={segments}");
            }
        }
    }
}

/// A rank between others exchanges three messages of a segment in each direction (Sanders, Träff 2006). The first
/// segment goes up and down the tree.
#[test]
fn a_doubly_pipelined_tree_sends_a_segment_three_times() {
    for collective in [Scan, Exscan] {
        let algorithm = collective.algorithm("doubly_pipelined_tree").unwrap();
        for size in 2..=64 {
            for segments in [1, 2, 3, 5, 8, 16, 33, 64] {
                let problem = Problem { segments, ..Problem::new(size) };
                let counted = Cost::count(&algorithm.programs(&problem));
                let label = format!("{}, p={size} k={segments}: {counted:?}", collective.name());
                assert!(counted.messages <= 3 * segments, "{label}");
                assert_eq!(counted.messages, counted.blocks, "{label}");
                assert!(counted.rounds <= 3 * segments + 4 * doublings(size) + 4, "{label}");
            }
        }
    }
}

/// Exchanging the groups only changes the numbers of the ranks.
#[test]
fn groups_may_be_exchanged() {
    let is_between_groups = |problem: &Problem| problem.remote > 0;
    check_all(2..=32, is_between_groups, |algorithm, problem| {
        let [cost, exchanged] =
            [problem, &problem.exchanged()].map(|problem| Cost::count(&algorithm.programs(problem)));
        assert_eq!(cost, exchanged, "{}, {problem:?}", algorithm.title());
    });
}

/// Checks the selected problems of every algorithm.
fn check_all(
    sizes: impl IntoIterator<Item = usize>,
    selected: fn(&Problem) -> bool,
    check: fn(&'static Algorithm, &Problem),
) {
    let check = |algorithm: &'static Algorithm, problem: &Problem| {
        check(algorithm, problem);
        Ok::<(), ()>(())
    };
    verify::check_all(REGISTRY, sizes, selected, check).expect("checks panic if they fail");
}

/// Selects some roots and radices, including the extreme ones. Calls in place send the same messages, so few ranks are
/// enough.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, root, in_place, radix, .. } = *problem;
    (size <= 16 || !in_place)
        && [0, 1, size / 2, size - 1].contains(&root)
        && [2, 3, default_radix(size), size].contains(&radix)
}

fn assert_costs(algorithm: &'static Algorithm, problem: &Problem) {
    let label = format!("{}, {problem:?}", algorithm.title());
    let counted = Cost::count(&algorithm.programs(problem));
    let stated = stated(algorithm, problem);
    if let Some(stated) = stated {
        assert_eq!(counted, stated, "{label}");
    }
    assert_simulated(algorithm, problem, counted, stated.is_some(), &label);
}

/// Checks the busiest rank's traffic with blocks of one byte, and the time if all messages take 1.
///
/// In counted rounds, a message travels only when both ends take part, and both are busy meanwhile. A simulated
/// message may arrive early and delay another, and has left before it arrives. So times equal rounds only where papers
/// count rounds.
fn assert_simulated(
    algorithm: &'static Algorithm,
    problem: &Problem,
    counted: Cost,
    is_stated: bool,
    label: &str,
) {
    let bytes = match Measure::of(algorithm.contract()) {
        Measure::Vector => algorithm.program(problem, 0).blocks,
        Measure::AllBlocks => problem.size,
        Measure::Block | Measure::Nothing => 1,
    };
    let own_ports = |link| Link { port: Port::Rank, ..link };
    let simulated = |gap| {
        let machine = Machine::log_gp(1.0, 0.0, gap, 0.0);
        // Copies take no time.
        let shared = Shared { single_copy_time: Some(ByteTime::NONE), ..machine.shared() };
        let machine = Machine {
            ranks_per_node: problem.size,
            between: own_ports(machine.between),
            shared: Some(shared),
            ..machine
        };
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
    let (time, rounds) = (prediction.time(), counted.rounds as f64);
    if is_stated {
        assert_eq!(time, rounds, "{label}");
    }
}

/// Returns the cost of exchanging lengths before the data.
fn exchange_of_lengths(algorithm: &Algorithm, problem: &Problem) -> Cost {
    let exchange = |rank| algorithm.exchange_of_lengths(problem, rank);
    let programs: Option<Vec<_>> = (0..problem.size).map(exchange).collect();
    programs.map_or_else(Cost::default, |programs| Cost::count(&programs))
}
