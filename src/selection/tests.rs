use super::samples::{chosen, line};
use super::*;
use crate::algorithms::Collective::*;
use crate::algorithms::{Cut, Parameter};
use crate::random::{Random, mutate};

const KIB: usize = 1 << 10;

fn call(collective: Collective, size: usize, bytes: usize) -> Call {
    Call::new(collective, size, bytes)
}

fn parse(text: &str) -> Rules {
    Rules::parse("test", text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn no_rule_means_below() {
    let rules = Rules::default();
    assert_eq!(chosen(&rules, call(Bcast, 4, 0)), "below");
}

#[test]
fn the_first_matching_rule_decides() {
    let rules = parse(
        "[[bcast]]\nranks = 4\nalgorithm = \"below\"\n\
         [[bcast]]\nranks = \"2..8\"\nbytes = \"1KiB..2KiB\"\nalgorithm = \"scatter_ring_allgather\"\n\
         [[bcast]]\npower_of_two = false\nalgorithm = \"binomial\"\n",
    );
    for ((size, bytes), expected) in [
        ((4, KIB), "below"),
        ((2, KIB), "scatter_ring_allgather"),
        ((8, 2 * KIB), "scatter_ring_allgather"),
        ((8, 2 * KIB + 1), "below"),
        ((7, KIB - 1), "binomial"),
        ((9, KIB), "binomial"),
        ((16, KIB), "below"),
    ] {
        assert_eq!(chosen(&rules, call(Bcast, size, bytes)), expected, "p = {size}, {bytes} bytes");
    }
    assert_eq!(chosen(&rules, call(Alltoall, 2, KIB)), "below");
}

#[test]
fn others_decide_where_no_rule_matches() {
    let own = parse("priority = 7\n[[bcast]]\nranks = 4\nalgorithm = \"chain\"\n");
    let others = parse("priority = 9\n[[bcast]]\nalgorithm = \"binary\"\n[[scan]]\nalgorithm = \"linear\"\n");
    let both = own.followed_by(&others);
    assert_eq!(chosen(&both, call(Bcast, 4, 0)), "chain");
    assert_eq!(chosen(&both, call(Bcast, 5, 0)), "binary");
    assert_eq!(chosen(&both, call(Scan, 5, 0)), "linear");
    assert_eq!(both.priority(), Some(7));
    assert_eq!(Rules::default().followed_by(&others).priority(), Some(9));
}

#[test]
fn an_algorithm_that_cannot_serve_is_passed_over() {
    let rules = parse(
        "[[allreduce]]\nalgorithm = \"ring\"\n\
         [[allreduce]]\ncommutative = false\nalgorithm = \"rabenseifner\"\n",
    );
    let commuting = call(Allreduce, 4, 8);
    assert_eq!(chosen(&rules, commuting), "ring");
    assert_eq!(chosen(&rules, Call { commutative: false, ..commuting }), "rabenseifner");
}

#[test]
fn what_is_not_reproducible_is_passed_over() {
    let rules = parse(
        "[[allreduce]]\nbytes = 8\nalgorithm = \"below\"\n\
         [[allreduce]]\nalgorithm = \"ring\"\n\
         [[allreduce]]\nalgorithm = \"rabenseifner\"\n",
    );
    let call = call(Allreduce, 4, 8);
    assert_eq!(chosen(&rules, call), "below");
    assert_eq!(chosen(&rules, Call { reproducible: true, ..call }), "rabenseifner");
}

#[test]
fn a_file_may_have_a_priority() {
    let rule = "[[bcast]]\nalgorithm = \"linear\"\n";
    assert_eq!(parse(rule).priority(), None);
    assert_eq!(parse(&format!("priority = 70\n{rule}")).priority(), Some(70));
    assert_eq!(parse("priority = 0").priority(), Some(0));
    for (value, expected) in [
        ("101", "expected a number from 0 to 100, found `101`"),
        ("-1", "expected a number from 0 to 100, found `-1`"),
        ("99999999999999999999", "expected a number from 0 to 100, found `99999999999999999999`"),
        ("[70]", "expected a number, a text, true or false"),
    ] {
        let errors = Rules::parse("file", &format!("priority = {value}\n{rule}")).unwrap_err();
        assert_eq!(errors.to_string(), format!("file:1:12: {expected}"));
    }
    let errors = Rules::parse("file", "prioritY = 1").unwrap_err();
    assert_eq!(
        errors.to_string(),
        "file:1:1: unknown collective `prioritY`; the nearest known one is `priority`"
    );
}

#[test]
fn parameters_are_part_of_the_choice() {
    let rules = parse(
        "[[alltoall]]\nalgorithm = \"bruck\"\nradix = 4\n\
         [[bcast]]\nalgorithm = \"binomial\"\nsegment = \"64KiB\"\n",
    );
    let parameters = |call: Call| match rules.choose(&call) {
        Choice::Below => Parameters::default(),
        Choice::Use { parameters, .. } => parameters,
    };
    let bruck = parameters(call(Alltoall, 4, 1));
    assert_eq!((bruck.get(Parameter::Radix), bruck.get(Parameter::Segment)), (Some(4), None));
    let binomial = parameters(call(Bcast, 4, 1));
    assert_eq!((binomial.get(Parameter::Radix), binomial.get(Parameter::Segment)), (None, Some(64 * KIB)));
}

/// Processes read these rules unchecked, because this test checks that none is faulty or never decides.
#[test]
fn the_built_in_rules_are_right() {
    let checked = Rules::parse(BUILT_IN_NAME, BUILT_IN_TEXT).unwrap();
    assert_eq!(format!("{checked:?}"), format!("{:?}", Rules::built_in()));
}

#[test]
fn the_built_in_rules_name_known_algorithms_and_serve_every_call() {
    // Reading the rules looks up every algorithm.
    let rules = Rules::built_in();
    for collective in Collective::ALL {
        for size in 1..70 {
            for bytes in [0, 1, 257, 3 * KIB, 20 * KIB, 300 * KIB, 1 << 30, usize::MAX] {
                for (commutative, reproducible) in
                    [(true, false), (false, false), (true, true), (false, true)]
                {
                    let call = Call { commutative, reproducible, ..call(collective, size, bytes) };
                    assert_ne!(chosen(rules, call), "below", "{call:?}");
                }
            }
        }
    }
}

#[test]
fn the_built_in_rules_serve_every_call_on_two_groups() {
    let is_between = |one: &Collective| ![Exscan, Scan].contains(one) && one.cut() != Cut::Edges;
    for collective in Collective::ALL.into_iter().filter(is_between) {
        for (size, remote) in [(2, 1), (8, 3), (70, 69)] {
            for commutative in [true, false] {
                let call = Call { remote, commutative, ..call(collective, size, 300 * KIB) };
                let chosen = chosen(Rules::built_in(), call);
                assert!(chosen.starts_with("inter_"), "{call:?}: {chosen}");
            }
        }
    }
}

#[test]
fn a_rule_without_conditions_is_not_for_two_groups_if_its_algorithm_is_not() {
    let rules = parse("[[bcast]]\nalgorithm = \"binomial\"\n");
    assert_eq!(chosen(&rules, call(Bcast, 8, 1)), "binomial");
    assert_eq!(chosen(&rules, Call { remote: 3, ..call(Bcast, 8, 1) }), "below");
}

#[test]
fn short_reduces_that_must_be_reproducible_take_the_fewest_rounds() {
    for (nodes, ranks_per_node) in [(32, 1), (8, 4), (1, 32)] {
        let on = Call { nodes: Some(nodes), ranks_per_node: Some(ranks_per_node), ..call(Reduce, 32, 8) };
        assert_eq!(chosen(Rules::built_in(), Call { reproducible: true, ..on }), "binomial_in_order");
    }
}

#[test]
fn built_in_decisions_over_networks() {
    for ((collective, size, bytes), expected, ordered) in [
        ((Allreduce, 2, 256 * KIB), "recursive_doubling", "recursive_doubling"),
        ((Allreduce, 2, 256 * KIB + 1), "circulant", "rabenseifner"),
        ((Allreduce, 8, 2 * KIB), "allgather_reduce", "allgather_reduce"),
        ((Allreduce, 8, 2 * KIB + 1), "recursive_multiplying", "recursive_multiplying"),
        ((Allreduce, 16, 512), "allgather_reduce", "allgather_reduce"),
        ((Allreduce, 17, 512), "recursive_multiplying", "recursive_multiplying"),
        ((Allreduce, 4096, 4 * KIB), "recursive_multiplying", "recursive_multiplying"),
        ((Allreduce, 4096, 4 * KIB + 1), "circulant", "rabenseifner"),
        ((Allreduce, 16, 512 * KIB + 1), "rabenseifner", "rabenseifner"),
        ((Allreduce, 17, 512 * KIB + 1), "circulant", "rabenseifner"),
        ((Reduce, 8, KIB), "linear", "binary_in_order"),
        ((Reduce, 16, KIB), "knomial", "binary_in_order"),
        ((Reduce, 17, 64 * KIB), "circulant_pipelined", "binary_in_order"),
        ((Reduce, 32, 64 * KIB), "rabenseifner", "binary_in_order"),
        ((Reduce, 16, 512 * KIB), "chain", "binary_in_order"),
        ((Reduce, 17, 512 * KIB), "circulant_pipelined", "binary_in_order"),
    ] {
        let call = call(collective, size, bytes);
        assert_eq!(chosen(Rules::built_in(), call), expected, "p = {size}, {bytes} bytes");
        let in_order = Call { commutative: false, ..call };
        assert_eq!(chosen(Rules::built_in(), in_order), ordered, "p = {size}, {bytes} bytes");
    }
    for ((collective, size, bytes), expected) in [
        ((Alltoall, 8, 8), "linear_window"),
        ((Alltoall, 12, 8), "linear_window"),
        ((Alltoall, 13, 128), "bruck_modified"),
        ((Alltoall, 19, 129), "linear_window"),
        ((Alltoall, 20, 256), "bruck_modified"),
        ((Bcast, 16, KIB), "linear"),
        ((Bcast, 17, KIB), "knomial"),
        ((Bcast, 3, 12 * KIB), "knomial"),
        ((Bcast, 3, 12 * KIB + 1), "circulant_pipelined"),
        ((Allgather, 8, 1 << 20), "linear"),
        ((Allgather, 9, 2 * KIB), "bruck"),
        ((Allgather, 33, 32 * KIB + 1), "ring"),
    ] {
        let call = call(collective, size, bytes);
        assert_eq!(chosen(Rules::built_in(), call), expected, "p = {size}, {bytes} bytes");
    }
}

/// The default rules' choices on one node and on two, with the same number of ranks.
fn chosen_on_nodes(
    (collective, size, bytes): (Collective, usize, usize),
    shares_memory: bool,
) -> [&'static str; 2] {
    [1, 2].map(|nodes| {
        let call = Call {
            shares_memory,
            copies_singly: shares_memory,
            nodes: Some(nodes),
            ranks_per_node: Some(size / nodes),
            is_on_several_nodes: nodes > 1,
            ..call(collective, size, bytes)
        };
        chosen(Rules::built_in(), call)
    })
}

#[test]
fn rules_may_ask_for_the_longest_block() {
    let rules = line(Allgatherv, "when='longest * ranks > 2 * bytes' -> bruck; -> ring");
    let call = Call::new(Allgatherv, 4, 100);
    for (longest, expected) in [
        (None, "ring"),
        (Some(25), "ring"),
        (Some(50), "ring"),
        (Some(51), "bruck"),
        (Some(100), "bruck"),
        (Some(usize::MAX), "bruck"),
    ] {
        assert_eq!(chosen(&rules, Call { longest, ..call }), expected, "{longest:?}");
    }
    let differing = rules.differences(&line(Allgatherv, "-> ring"), 4..=4);
    assert_eq!(differing.iter().map(|one| one.call.longest).collect::<Vec<_>>(), [Some(usize::MAX)]);
    let refused = Rules::parse_line("line", Allgather, "when='longest > 4' -> ring").unwrap_err().to_string();
    assert!(refused.contains("the blocks of allgather are equally long"), "{refused}");
}

#[test]
fn built_in_decisions_on_nodes() {
    for (named, expected) in [
        ((Allreduce, 2, 1 << 19), ["circulant", "circulant"]),
        ((Allreduce, 8, 8), ["recursive_doubling", "node_aware"]),
        ((Allreduce, 8, 1 << 20), ["rabenseifner", "node_aware_circulant"]),
        ((Bcast, 8, 1 << 20), ["knomial", "node_aware_chain"]),
        ((Reduce, 8, 8), ["knomial", "node_aware_knomial"]),
        ((Alltoall, 8, 8), ["spread_out", "node_aware"]),
    ] {
        assert_eq!(chosen_on_nodes(named, false), expected, "{named:?}");
    }
}

/// Tests only which algorithms serve the shortest and the longest calls, because measurements move the bounds between.
#[test]
fn built_in_decisions_on_nodes_that_share_memory() {
    for (named, expected) in [
        ((Allreduce, 8, 8), ["shared_flat", "shared_leaders"]),
        ((Allreduce, 64, 8), ["shared_leaders", "shared_leaders"]),
        ((Allreduce, 8, 1 << 30), ["shared_slices", "ring_segmented"]),
        ((Allreduce, 64, 1 << 30), ["shared_slices", "shared_multi_leaders"]),
        ((Allgather, 8, 8), ["shared", "shared_leaders"]),
        ((Allgather, 8, 1 << 20), ["shared", "shared_multi_leaders"]),
        ((Alltoall, 8, 1 << 30), ["shared", "linear_window"]),
        ((Alltoall, 8, 8), ["shared", "node_aware"]),
        ((Barrier, 8, 0), ["shared", "shared_leaders"]),
        ((Bcast, 8, 8), ["shared", "shared_leaders"]),
        ((Bcast, 8, 1 << 30), ["shared", "node_aware_chain"]),
        ((Bcast, 64, 1 << 30), ["shared", "shared_leaders_pipelined"]),
        ((Reduce, 8, 8), ["shared_leaders", "shared_leaders"]),
        ((Reduce, 8, 8 * KIB), ["shared_leaders", "shared_multi_leaders_pipelined"]),
        ((Reduce, 8, 64 * KIB), ["shared_slices", "shared_multi_leaders"]),
        ((Reduce, 8, 1 << 20), ["shared_slices", "shared_multi_leaders_pipelined"]),
        ((ReduceScatterBlock, 8, 8), ["shared", "shared_leaders"]),
        ((ReduceScatterBlock, 8, 1 << 20), ["shared", "shared_multi_leaders"]),
        ((Scan, 16, 8), ["shared", "shared_leaders"]),
        ((Gather, 8, 8), ["shared", "binomial"]),
        ((Scatter, 8, 1 << 30), ["single_copy", "linear"]),
    ] {
        assert_eq!(chosen_on_nodes(named, true), expected, "{named:?}");
    }
}

#[test]
fn mutated_texts_are_refused_or_read_but_never_panic() {
    let mut random = Random(0x5eed);
    let file = include_str!("../../selection-rules/t3e-atlas.toml");
    let line = "ranks=4,33.. bytes=16K..1MiB commutative in_place=false when='not log2(bytes)/2 - 2.5 <= max(3, \
                sqrt(ranks))' -> binary_blocks; ranks=..8 -> recursive_multiplying radix=4";
    let alphabet = b"0123456789KB.,;<>=\"'()[]#-+*/ \n\\";
    let mut seen = [0; 2];
    for round in 0..4000 {
        let is_file = round % 2 == 0;
        let mut text = if is_file { file.as_bytes().to_vec() } else { line.as_bytes().to_vec() };
        for _ in 0..1 + random.below(4) {
            mutate(&mut text, alphabet, &mut random);
        }
        let read = match is_file {
            true => Rules::read("file", &text),
            false => Rules::parse_line("line", Allreduce, &String::from_utf8_lossy(&text)),
        };
        seen[usize::from(read.is_ok())] += 1;
        for RuleError { origin, .. } in read.err().into_iter().flat_map(|errors| errors.0) {
            let has_place = origin.line > 0 && origin.column > 0;
            assert!(has_place || origin == Origin::whole(&origin.file), "{origin:?}");
        }
    }
    assert!(seen.iter().all(|&times| times > 500), "{seen:?} refused and read");
}

/// A careless reader would take minutes, or the whole stack, for each of these texts.
#[test]
fn long_texts_are_refused_in_time() {
    let filled = |start: &str, piece: &str| {
        start.to_owned() + &piece.repeat((LONGEST_TEXT - start.len()) / piece.len())
    };
    for text in [
        filled("bcast = ", "["),
        filled("[[bcast]]\nranks = [1", ", 'x'") + "]",
        filled("", "[[bcast]]\nx=1\n"),
        filled("[[bcast]]\n", "x"),
        filled("[[bcast]]\nwhen = '", "("),
    ] {
        assert!(Rules::parse("file", &text).is_err());
    }
    for line in [filled("", "x;"), filled("ranks=", "1,"), filled("", "->"), filled("-> ring x=", "'")] {
        assert!(Rules::parse_line("line", Allreduce, &line).is_err());
    }
}
