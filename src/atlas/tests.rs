//! Atlases and the rules derived from them.

use super::*;
use crate::algorithms::Parameter;
use crate::cost::{Link, Processor, simulate};
use crate::selection::{Call, Choice, Parameters, Rules};
use std::sync::LazyLock;

const LIMIT: f64 = 0.05;

const SLOWEST: f64 = 4.0;

/// A machine on which messages cost processor time, so that the number of messages matters.
fn machine() -> Machine {
    let hockney = Machine::hockney(1e-5, 1e-9, 0.0);
    Machine {
        between: Link { overhead: 2e-6, ..hockney.between },
        processor: Processor { reduce_time: 3e-10.into(), copy_time: 1e-10.into(), ..Processor::default() },
        ..hockney
    }
}

fn atlas(collective: Collective, machine: &Machine, sweep: Sweep) -> Atlas {
    let (ranks, bytes) =
        (sampled_numbers_of_ranks(2..=24, machine.ranks_per_node), numbers_of_bytes(0..=1 << 20, 4));
    Atlas::new(Candidate::all(collective, sweep), machine, ranks, bytes, SLOWEST, |_| {}).unwrap()
}

/// The call at a point, with an operator that commutes or not, without shared memory.
fn call(atlas: &Atlas, point: Point, commutative: bool) -> Call {
    let call = Call::new(atlas.collective, atlas.ranks[point.ranks], atlas.bytes[point.bytes]);
    Call { commutative, shares_memory: false, copies_singly: false, ..call }
}

/// The same call on full nodes, whose ranks share memory.
fn call_on_full_nodes(call: &Call, ranks_per_node: usize) -> Call {
    let nodes = call.size.div_ceil(ranks_per_node);
    Call {
        shares_memory: true,
        is_on_several_nodes: nodes > 1,
        nodes: Some(nodes),
        ranks_per_node: Some(call.size.min(ranks_per_node)),
        ..*call
    }
}

/// How much slower the choice of the rules is than the fastest that can serve the call, as a fraction.
fn regret_of_choice(atlas: &Atlas, rules: &Rules, point: Point, call: &Call) -> f64 {
    let Choice::Use { algorithm, parameters } = rules.choose(call) else {
        panic!("{call:?}: no rule matches");
    };
    call.is_served_by(algorithm).unwrap();
    let is_chosen = |candidate: &&Candidate| {
        candidate.algorithm.name == algorithm.name && candidate.parameters == parameters
    };
    let number = atlas.candidates.iter().position(|candidate| is_chosen(&candidate)).unwrap();
    let times = atlas.times(point);
    let is_served = |candidate: &Candidate| call.is_served_by(candidate.algorithm).is_ok();
    let served = atlas.candidates.iter().zip(times).filter(|(candidate, _)| is_served(candidate));
    let best = served.map(|(_, &time)| time).fold(f64::INFINITY, f64::min);
    // All times are 0 where there is nothing to do.
    if times[number] == best { 0.0 } else { times[number] / best - 1.0 }
}

/// The atlas of allreduce on [`machine`], computed once.
fn atlas_of_allreduce() -> &'static Atlas {
    static ATLAS: LazyLock<Atlas> =
        LazyLock::new(|| atlas(Collective::Allreduce, &machine(), Sweep::Parameters));
    &ATLAS
}

fn best_time(atlas: &Atlas, point: Point) -> f64 {
    atlas.times(point)[atlas.winner(point).unwrap()]
}

#[test]
fn times_are_those_of_the_simulator() {
    let machine = machine();
    for collective in [Collective::Allreduce, Collective::Bcast, Collective::Barrier] {
        let atlas = atlas(collective, &machine, Sweep::Parameters);
        for point in atlas.points().step_by(7) {
            let (size, bytes) = (atlas.ranks[point.ranks], atlas.bytes[point.bytes]);
            for (candidate, &time) in atlas.candidates.iter().zip(atlas.times(point)) {
                match candidate.served(size, bytes).filter(|_| candidate.is_tried(bytes)) {
                    None => assert_eq!(time, f64::INFINITY, "{candidate}"),
                    Some(problem) => {
                        let expected = match simulate(
                            candidate.collective,
                            candidate.algorithm,
                            &problem,
                            bytes,
                            &machine,
                        ) {
                            Err(SimulationError::DoesNotServe(_)) => f64::INFINITY,
                            other => other.unwrap().time(),
                        };
                        let is_far = time == f64::INFINITY && expected > SLOWEST * best_time(&atlas, point);
                        assert!(time == expected || is_far, "{candidate}, {size} ranks, {bytes} bytes");
                    }
                }
            }
            let times = atlas.times(point);
            let winner = atlas.winner(point).unwrap();
            assert_eq!(times[winner], times.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(atlas.regret(point, winner), 0.0);
        }
    }
}

#[test]
fn what_is_far_from_the_fastest_has_no_time() {
    let candidates = Candidate::all(Collective::Allgather, Sweep::Defaults);
    let ring = candidates.iter().position(|candidate| candidate.algorithm.name == "ring").unwrap();
    let atlas = Atlas::new(candidates, &machine(), vec![512], vec![8, 1 << 20], SLOWEST, |_| {}).unwrap();
    let times = [0, 1].map(|bytes| atlas.times(Point { ranks: 0, bytes })[ring]);
    assert!(times[0] == f64::INFINITY && times[1].is_finite(), "{times:?}");
}

#[test]
fn what_is_needed_has_a_time_however_far_it_is_from_the_fastest() {
    let candidates = Candidate::all(Collective::Allgather, Sweep::Defaults);
    let ring = candidates.iter().position(|candidate| candidate.algorithm.name == "ring").unwrap();
    let is_needed = |candidate: &Candidate, ranks: usize, bytes: usize| {
        (candidate.algorithm.name, ranks, bytes) == ("ring", 512, 8)
    };
    let (ranks, bytes) = (vec![512], vec![8, 16]);
    let atlas =
        Atlas::with(candidates.clone(), &machine(), ranks, bytes, SLOWEST, &is_needed, |_| {}).unwrap();
    let times = [0, 1].map(|bytes| atlas.times(Point { ranks: 0, bytes })[ring]);
    let problem = candidates[ring].problem(512, 8);
    let expected = simulate(Collective::Allgather, candidates[ring].algorithm, &problem, 8, &machine());
    assert_eq!(times, [expected.unwrap().time(), f64::INFINITY]);
}

#[test]
fn what_is_too_large_to_be_simulated_is_named_and_left_out() {
    let of = |name| Collective::Bcast.algorithm(name).unwrap();
    let candidates = ["binomial", "scatter_ring_allgather"]
        .into_iter()
        .flat_map(|name| Candidate::of(Collective::Bcast, of(name), Sweep::Defaults))
        .collect();
    let atlas = Atlas::new(candidates, &machine(), vec![64, 8192], vec![64 << 20], SLOWEST, |_| {}).unwrap();
    assert_eq!(atlas.too_large, BTreeMap::from([("scatter_ring_allgather", 8192)]));
    let times = [0, 1].map(|ranks| atlas.times(Point { ranks, bytes: 0 })[1]);
    assert!(times[0].is_finite() && times[1] == f64::INFINITY, "{times:?}");
}

#[test]
fn where_nothing_has_a_time_nothing_wins() {
    let shared = Collective::Bcast.algorithm("shared").unwrap();
    let candidates = Candidate::of(Collective::Bcast, shared, Sweep::Defaults);
    let machine = Machine { ranks_per_node: 4, ..machine() };
    let atlas = Atlas::new(candidates, &machine, vec![4, 8], vec![8], SLOWEST, |_| {}).unwrap();
    assert_eq!([0, 1].map(|ranks| atlas.winner(Point { ranks, bytes: 0 })), [Some(0), None]);
    assert_eq!(atlas.regret(Point { ranks: 1, bytes: 0 }, 0), f64::INFINITY);
    assert!(derive(&atlas, LIMIT, 4).iter().all(|rule| rule.ranks.1.is_some()), "no rule holds for 8 ranks");
}

#[test]
fn the_observer_sees_the_work_grow_to_its_end() {
    let seen = Mutex::new(Vec::new());
    let candidates = Candidate::all(Collective::Barrier, Sweep::Defaults);
    Atlas::new(candidates, &machine(), vec![2, 3], vec![0], SLOWEST, |part| seen.lock().unwrap().push(part))
        .unwrap();
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by(f64::total_cmp);
    assert!(seen[0] > 0.0);
    assert_eq!(seen.last(), Some(&1.0));
}

#[test]
fn what_cannot_be_simulated_is_named() {
    let candidates = Candidate::all(Collective::Allreduce, Sweep::Defaults);
    let error = Atlas::new(candidates, &machine(), vec![2], vec![usize::MAX], SLOWEST, |_| {})
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("allreduce ") && error.contains(" are too many to be priced"), "{error}");
}

#[test]
fn derived_rules_choose_what_is_nearly_the_fastest() {
    let machines = [machine(), Machine { ranks_per_node: 12, ..machine() }];
    for machine in &machines {
        for collective in Collective::ALL {
            let has_rules = collective == Collective::Barrier
                || crate::selection::Measure::of(collective) != crate::selection::Measure::Nothing;
            if !has_rules {
                continue;
            }
            let atlas = atlas(collective, machine, Sweep::Parameters);
            let derived = derive(&atlas, LIMIT, machine.ranks_per_node);
            let text = to_native(&derived);
            let rules = Rules::parse("derived", &text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
            assert_eq!(rules.of(collective).len(), derived.len());
            for point in atlas.points() {
                for commutative in [true, false] {
                    let by_messages = call(&atlas, point, commutative);
                    let on_nodes = call_on_full_nodes(&by_messages, machine.ranks_per_node);
                    let calls = if machine.ranks_per_node > 1 {
                        &[by_messages, on_nodes][..]
                    } else {
                        &[by_messages]
                    };
                    for call in calls {
                        let regret = regret_of_choice(&atlas, &rules, point, call);
                        assert!(regret <= LIMIT, "{call:?}: {regret}\n{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_rule_states_the_largest_regret_of_those_that_it_decides() {
    let atlas = atlas_of_allreduce();
    let derived = derive(atlas, LIMIT, 1);
    let rules = Rules::parse("derived", &to_native(&derived)).unwrap();
    let mut largest = vec![0.0_f64; derived.len()];
    for point in atlas.points() {
        for commutative in [true, false] {
            let call = call(atlas, point, commutative);
            let explained = rules.explain(&call);
            let deciding = explained.iter().position(|one| one.verdict == crate::selection::Verdict::Matches);
            let regret = regret_of_choice(atlas, &rules, point, &call);
            let largest = &mut largest[deciding.unwrap()];
            *largest = largest.max(regret);
        }
    }
    for (rule, largest) in derived.iter().zip(largest) {
        assert_eq!(rule.regret, largest, "{rule:?}");
    }
}

#[test]
fn a_larger_regret_makes_fewer_rules() {
    let atlas = atlas_of_allreduce();
    let counts = [0.0, 0.05, 0.3, 1e9].map(|limit| derive(atlas, limit, 1).len());
    assert!(counts.is_sorted_by(|one, other| one >= other), "{counts:?}");
    // One rule for operators that commute and one for the others, if the first does not keep the order.
    assert!(counts[3] <= 2 && counts[0] > counts[1], "{counts:?}");
}

#[test]
fn a_rule_says_what_it_holds_for() {
    let collective = Collective::Allreduce;
    let algorithm = collective.algorithm("recursive_multiplying").unwrap();
    let mut parameters = Parameters::default();
    parameters.set(Parameter::Radix, Some(4));
    let rule = Derived {
        candidate: Candidate { collective, algorithm, parameters },
        commutative: true,
        full_node: None,
        power_of_two: Some(false),
        ranks: (Some(5), Some(9)),
        bytes: (Some(1025), Some(4096)),
        regret: 0.0123,
    };
    let expected = "\n# at most 1.2 % slower than the fastest\n[[allreduce]]\ncommutative = true\n\
                    power_of_two = false\nranks = \"5..9\"\nbytes = \"1025..4KiB\"\nalgorithm = \"recursive_multiplying\"\n\
                    radix = 4\n";
    assert_eq!(to_native(std::slice::from_ref(&rule)), expected);
    let on_nodes = Derived { full_node: Some(32), ..rule.clone() };
    assert!(
        to_native(&[on_nodes]).contains("4KiB\"\nwhen = \"ranks_per_node == min(ranks, 32)\"\nalgorithm")
    );
    let open = Derived { ranks: (None, Some(9)), bytes: (Some(8), None), ..rule.clone() };
    assert!(to_native(&[open]).contains("ranks = \"..9\"\nbytes = \"8..\"\n"));
    let single = Derived { ranks: (Some(9), Some(9)), bytes: (None, None), ..rule };
    assert!(to_native(&[single]).contains("ranks = \"9\"\nalgorithm"));
}
