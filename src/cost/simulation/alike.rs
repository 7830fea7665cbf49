//! Tests that few ranks may stand for all.

use crate::algorithms::Collective::{self, *};
use crate::algorithms::{Algorithm, Body, Cut, Problem, REGISTRY, default_radix};
use crate::cost::machine::Shipped;
use crate::cost::simulation::job::MANY_ORDERED_RANKS;
use crate::cost::simulation::program::Program;
use crate::cost::simulation::sizes::Lengths;
use crate::cost::simulation::{LOWER_BOUNDS, Prediction, Simulation, SimulationError};
use crate::cost::{Link, Machine, Port, Processor, Shared};
use crate::schedule::{Buffer, Builder, Schedule};
use crate::verify::check_all;
use std::convert::Infallible;

/// Machines that differ in what ranks of a node share; on some, copies and reductions take time.
fn machines() -> [Machine; 3] {
    let hockney = Machine::hockney(64.0, 2.0, 0.0);
    let link = Link { overhead: 1.0, gap: 10.0, eager_limit: 20, packet: 6, ..hockney.between };
    let shared = Machine {
        ranks_per_node: 2,
        tcp: false,
        between: link,
        within: Link { latency: 4.0, byte_time: 0.5.into(), ..hockney.within },
        shared: None,
        processor: Processor { reduce_time: 0.25.into(), copy_time: 0.0.into(), ..Processor::default() },
        beyond: Default::default(),
        groups: None,
    };
    let copying = Machine {
        ranks_per_node: 4,
        between: Link {
            port: Port::Rank,
            exchange_byte_time: 1.5.into(),
            node_byte_time: 0.75.into(),
            receive_overhead: Some(0.5),
            repeated_overhead: Some(0.25),
            ..link
        },
        processor: Processor { copy_time: 0.125.into(), ..shared.processor },
        ..shared.clone()
    };
    [hockney.unidirectional(40.0, 1.0), shared, copying]
}

/// Checks the selected problems of all algorithms whose ranks may be alike, with equal blocks, on all
/// machines that can serve them. A sample of ranks must have the symmetries of all, and a rank must take as
/// long as its representative.
fn check(sizes: impl IntoIterator<Item = usize>, is_selected: fn(&Problem) -> bool) {
    check_all(REGISTRY, sizes, is_selected, |algorithm, problem| {
        machines().iter().for_each(|machine| check_on(machine, algorithm, problem));
        Ok::<(), Infallible>(())
    })
    .unwrap();
}

fn check_on(machine: &Machine, algorithm: &'static Algorithm, problem: &Problem) {
    let label = format!("{}, {problem:?}", algorithm.title());
    let mut simulation = match Simulation::new(algorithm.contract(), algorithm, problem, machine) {
        Err(SimulationError::DoesNotServe(_)) => return,
        other => other.unwrap(),
    };
    let blocks = algorithm.program(problem, 0).blocks;
    let bytes = 8 * if algorithm.contract().cut() == Cut::Vector { blocks } else { problem.size };
    assert_no_time_is_less(&mut simulation, bytes, &label);
    if simulation.symmetries().next().is_some() {
        assert_sample_is_right(&simulation, &label);
        assert_times_are_equal(&mut simulation, bytes, &label);
    }
}

/// Some radices and numbers of segments, not in place.
fn is_selected(problem: &Problem) -> bool {
    let Problem { size, radix, segments, in_place, .. } = *problem;
    !in_place && segments <= 2 && [2, default_radix(size), size].contains(&radix)
}

/// The selected problems with the first or the middle rank as root: few algorithms have a root and ranks that
/// are alike.
fn has_one_of_two_roots(problem: &Problem) -> bool {
    is_selected(problem) && [0, problem.size / 2].contains(&problem.root)
}

/// The selected problems with every root of up to 48 ranks; beyond, with few roots.
fn has_selected_root(problem: &Problem) -> bool {
    let Problem { size, root, .. } = *problem;
    is_selected(problem) && (size <= 48 || [0, 1, size / 2, size - 1].contains(&root))
}

#[test]
fn few_ranks_stand_for_all() {
    check((1..=10).chain([12, 13, 15, 16, 17, 20, 24, 27, 31, 32, 36, 48]), has_one_of_two_roots);
}

#[test]
#[ignore = "takes minutes"]
fn few_ranks_stand_for_all_of_up_to_128() {
    // The longest first, so that all processors finish at about the same time.
    let many = [128, 127, 125, 121, 120, 112, 108, 100, 97, 96, 90, 81, 80, 72, 67, 65];
    check(many.into_iter().chain((1..=64).rev()), has_selected_root);
}

fn assert_no_time_is_less(simulation: &mut Simulation, bytes: usize, label: &str) {
    let least = least_time(simulation, bytes);
    let time = simulation.with_symmetry(None).predict(bytes).unwrap().time();
    assert!(least <= time * (1.0 + 1e-9), "{label}: {least} s at least, {time} s");
}

/// Returns the highest of the lower bounds.
pub fn least_time(simulation: &Simulation, bytes: usize) -> f64 {
    LOWER_BOUNDS.iter().map(|bound| bound(simulation, &[(bytes, f64::INFINITY)])[0]).fold(0.0, f64::max)
}

fn assert_sample_is_right(simulation: &Simulation, label: &str) {
    let compiler = simulation.compiler(Lengths::AnyOne);
    let programs: Vec<Program> = (0..simulation.size()).map(|rank| compiler.program(rank)).collect();
    for symmetry in simulation.symmetries() {
        let program = |rank: usize| programs[rank].clone();
        let (all, same) = ((0..symmetry.period()).collect(), |program| program);
        let sampled = symmetry.holds(program, same);
        let every = symmetry.holds_of(all, symmetry.every_shift(), program, same);
        assert_eq!(sampled, every, "{label}, {symmetry:?}");
    }
}

fn assert_times_are_equal(simulation: &mut Simulation, bytes: usize, label: &str) {
    let symmetry = simulation.find_symmetry();
    if symmetry.is_none() {
        return;
    }
    let every = simulation.with_symmetry(None).predict(bytes).unwrap();
    let few = simulation.with_symmetry(symmetry).predict(bytes).unwrap();
    let times: Vec<f64> = (0..simulation.size()).map(|rank| few.of_rank(rank)).collect();
    assert_eq!(Prediction { ranks: times, ..few }, every, "{label}, {symmetry:?}");
}

/// Ranks that wait in another order than those that stand for them take nearly as long.
#[test]
fn the_order_of_waits_matters_little() {
    // Where few ranks stand for all, messages between groups take a mean time. That is tested elsewhere.
    let machine = Machine { groups: None, ..Shipped::named("leonardo").unwrap().machine() };
    for name in ["rabenseifner", "bine_halves"] {
        let algorithm = Allreduce.algorithm(name).unwrap();
        let problem = Problem { segments: 4, ..Problem::new(2 * MANY_ORDERED_RANKS) };
        let mut simulation = Simulation::new(Allreduce, algorithm, &problem, &machine).unwrap();
        for bytes in [1 << 16, 1 << 20] {
            let few = simulation.predict(bytes).unwrap();
            assert_eq!(few.ranks.len(), machine.ranks_per_node, "{name}");
            let all = simulation.with_symmetry(None).predict(bytes).unwrap();
            let ratio = few.time() / all.time();
            assert!((0.95..1.05).contains(&ratio), "{name}, {bytes} B: {ratio}");
            simulation.with_symmetry(simulation.find_symmetry());
        }
    }
}

/// On a machine where copies take no time: copies tell some ranks from others.
#[test]
fn the_ranks_of_many_algorithms_are_alike() {
    let are_alike = |collective: Collective, name: &str, size: usize| {
        let algorithm = collective.algorithm(name).unwrap();
        let machine = &machines()[1];
        let problem = Problem { radix: 2, ..Problem::new(size) };
        Simulation::new(algorithm.contract(), algorithm, &problem, machine).unwrap().find_symmetry().is_some()
    };
    for (collective, name, powers_only) in [
        (Allgather, "bruck", false),
        (Allgather, "neighbor_exchange", false),
        (Allgather, "ring", false),
        (Allgather, "recursive_doubling", true),
        (Allreduce, "circulant", false),
        (Allreduce, "ring", false),
        (Allreduce, "rabenseifner", true),
        (Allreduce, "recursive_doubling", true),
        (Alltoall, "bruck", false),
        (Alltoall, "pairwise", false),
        (Alltoall, "spread_out", false),
        (Barrier, "dissemination", false),
        (ReduceScatter, "recursive_halving", true),
    ] {
        assert!(are_alike(collective, name, 64), "{name}");
        assert_eq!(are_alike(collective, name, 60), !powers_only, "{name}");
    }
    assert!(!are_alike(Bcast, "binomial", 64));
    assert!(!are_alike(Scan, "recursive_doubling", 64));
}

/// An allgather over slots, as a hand-written algorithm. All ranks publish. Each then reads the slots of its
/// node, and exchanges messages with its counterparts on other nodes, at multiples of the radix.
const OVER_SLOTS: Algorithm = Algorithm {
    collectives: &[Allgather],
    name: "over_slots",
    aliases: &[],
    source: "",
    idea: "",
    avoid_when: "",
    parameters: &[],
    requires: &[],
    body: Body::Messages(over_slots),
};

fn over_slots(problem: &Problem, rank: usize) -> Schedule {
    let (size, node) = (problem.size, problem.nodes.of(rank));
    let mut program = Builder::new(rank, size, size).slots(1);
    program.publish(Buffer::Send.block(rank), 0);
    let apart = |distance| match size.is_power_of_two() {
        true => rank ^ distance,
        false => (rank + distance) % size,
    };
    for peer in (1..size).map(apart).filter(|&peer| problem.nodes.of(peer) == node) {
        let slot = program.await_slot(peer, 0);
        program.copy(slot, Buffer::Recv.block(peer));
    }
    for peer in (1..size).filter(|distance| distance % problem.radix == 0).map(apart) {
        program.exchange((peer, Buffer::Send.block(rank)), (peer, Buffer::Recv.block(peer)));
    }
    program.build()
}

#[test]
fn who_stands_for_others_raises_their_flags_too() {
    let sharing = Machine {
        shared: Some(Shared::copying_twice(3.0, 0.5.into())),
        processor: Processor { reduce_time: 0.0.into(), copy_time: 0.25.into(), ..Processor::default() },
        ..machines()[1].clone()
    };
    for (size, ranks_per_node) in [(8, 8), (12, 12), (16, 4), (48, 48), (64, 8)] {
        let machine = Machine { ranks_per_node, ..sharing.clone() };
        let problem = Problem { radix: ranks_per_node, ..Problem::new(size) };
        for bytes in [8, 1 << 10, 3 << 20, 9 << 20] {
            let label = format!("{size} ranks, {ranks_per_node} to a node, {bytes} bytes");
            let mut simulation =
                Simulation::new(OVER_SLOTS.contract(), &OVER_SLOTS, &problem, &machine).unwrap();
            assert!(simulation.find_symmetry().is_some(), "{label}");
            assert_sample_is_right(&simulation, &label);
            assert_times_are_equal(&mut simulation, bytes, &label);
        }
    }
}
