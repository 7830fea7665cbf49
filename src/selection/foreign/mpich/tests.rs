use crate::algorithms::Collective::*;
use crate::selection::samples::{chosen, notes, read};
use crate::selection::{Call, Rules};

#[test]
fn questions_are_asked_in_turn() {
    let rules = read(
        r#"{ "collective=bcast": { "comm_type=intra": {
               "comm_size<8": { "algorithm=MPIR_Bcast_intra_binomial": {} },
               "comm_size = pow2": {
                 "avg_msg_size<=12288": { "algorithm=MPIR_Bcast_intra_tree": { "tree_type=knomial_1": {}, "k=4": {} } },
                 "avg_msg_size=any": { "algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {} } },
               "is_sendbuf_inplace=any": { "algorithm=MPIR_Bcast_intra_circ_graph": { "chunk_size=4096": {} } } },
             "comm_type=inter": { "algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {} } },
           "collective=allgather": { "total_msg_size<81920": { "algorithm=MPIR_Allgather_intra_k_brucks": {"k=3": {}} },
             "any": { "algorithm=MPIR_Allgather_intra_ring": {} } } }"#,
    );
    assert_eq!(notes(&rules), [""; 0]);
    for ((size, bytes), expected) in [
        ((7, 1), "binomial"),
        ((8, 12288), "knomial"),
        ((8, 12289), "scatter_ring_allgather"),
        ((9, 1), "circulant_pipelined"),
    ] {
        assert_eq!(chosen(&rules, Call::new(Bcast, size, bytes)), expected, "p = {size}, {bytes} bytes");
    }
    assert_eq!(chosen(&rules, Call { remote: 3, ..Call::new(Bcast, 9, 1) }), "inter_leaders");
    assert_eq!(chosen(&rules, Call::new(Allgather, 10, 8191)), "bruck");
    assert_eq!(chosen(&rules, Call::new(Allgather, 10, 8192)), "ring");
    let native = rules.to_native();
    assert!(
        native.contains("radix = 4\n")
            && native.contains("segment = 4096\n")
            && native.contains("radix = 3\n")
    );
}

#[test]
fn a_question_without_an_answer_leaves_its_calls_below() {
    let rules = read(
        r#"{ "collective=allreduce": {
               "comm_size<=8": { "avg_msg_size<100": { "algorithm=MPIR_Allreduce_intra_ring": {} } },
               "comm_size=any": { "algorithm=MPIR_Allreduce_intra_recursive_doubling": {} } } }"#,
    );
    assert_eq!(chosen(&rules, Call::new(Allreduce, 8, 99)), "ring");
    assert_eq!(chosen(&rules, Call::new(Allreduce, 8, 100)), "below");
    assert_eq!(chosen(&rules, Call::new(Allreduce, 9, 100)), "recursive_doubling");
}

#[test]
fn opposites_exhaust_each_other() {
    let rules = read(
        r#"{ "collective=allreduce": {
               "is_commutative=yes": { "algorithm=MPIR_Allreduce_intra_ring": {} },
               "is_commutative=no": { "algorithm=MPIR_Allreduce_intra_recursive_doubling": {} } },
             "collective=scan": {
               "is_node_consecutive=yes": { "algorithm=MPIR_Scan_intra_smp": {} },
               "is_node_consecutive=no": { "algorithm=MPIR_Scan_intra_recursive_doubling": {} } } }"#,
    );
    assert_eq!((rules.of(Allreduce).len(), rules.of(Scan).len()), (2, 1));
    assert_eq!(
        chosen(&rules, Call { commutative: false, ..Call::new(Allreduce, 9, 1) }),
        "recursive_doubling"
    );
    assert_eq!(chosen(&rules, Call::new(Scan, 9, 1)), "recursive_doubling");
    assert_eq!(
        notes(&rules),
        ["file:5:17: `is_node_consecutive=yes` never holds here: rules do not ask for the order of ranks"]
    );
}

#[test]
fn nodes_are_asked_for() {
    let rules = read(
        r#"{ "collective=barrier": {
               "comm_size=node_comm_size": { "algorithm=MPIR_Barrier_intra_k_dissemination": { "k=2": {} } },
               "comm_hierarchy=parent": { "comm_avg_ppn<4": { "algorithm=MPIR_Barrier_intra_k_dissemination": {} } } } }"#,
    );
    let on = |size, nodes, ranks_per_node| {
        let call =
            Call { nodes: Some(nodes), ranks_per_node: Some(ranks_per_node), ..Call::new(Barrier, size, 0) };
        chosen(&rules, call)
    };
    assert_eq!(on(8, 1, 8), "dissemination");
    assert_eq!(on(7, 2, 4), "dissemination");
    assert_eq!(on(8, 2, 4), "below");
    assert_eq!(on(8, 8, 1), "below");
}

#[test]
fn a_communicator_is_flat_if_its_ranks_have_a_node_each() {
    let rules = read(
        r#"{ "collective=bcast": {
               "comm_hierarchy=node": { "algorithm=MPIR_Bcast_intra_smp": {} },
               "comm_hierarchy=parent": { "algorithm=MPIR_Bcast_intra_binomial": {} },
               "comm_hierarchy=flat": { "algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {} } } }"#,
    );
    let on = |nodes, ranks_per_node| {
        let call =
            Call { nodes: Some(nodes), ranks_per_node: Some(ranks_per_node), ..Call::new(Bcast, 16, 8) };
        chosen(&rules, call)
    };
    assert_eq!([on(1, 16), on(4, 4), on(16, 1)], ["binomial", "binomial", "scatter_ring_allgather"]);
    assert_eq!(
        notes(&rules)[0],
        "file:2:17: `comm_hierarchy=node` never holds here: MPICH makes such communicators for itself"
    );
}

#[test]
fn what_there_is_not_is_noted_and_goes_below() {
    let rules = read(
        r#"{ "collective=allreduce": { "count<pow2": { "algorithm=MPIR_Allreduce_intra_ring": {} },
                                      "count=any": { "algorithm=MPIR_Allreduce_intra_smp": {} } },
             "collective=iallreduce": { "algorithm=MPIR_Iallreduce_intra_sched_naive": {} },
             "collective=bcast": { "composition=MPIDI_Bcast_intra_composition_alpha": {} },
             "collective=barrier": { "algorithm=MPIR_Barrier_intra_k_dissemination": { "k=3": {} } },
             "collective=gather": { "total_msg_size<9": { "algorithm=MPIR_Gather_intra_binomial": {} },
                                    "total_msg_size=any": { "algorithm=MPIR_Gather_intra_binomial": { "tree=1": {} } } } }"#,
    );
    assert_eq!(
        notes(&rules),
        [
            "file:1:30: `count<pow2` never holds here: rules do not ask for counts",
            "file:2:55: there is no `MPIR_Allreduce_intra_smp` here: the component below serves these calls",
            "file:3:15: left out: in rustcoll the rules of allreduce hold for its blocking and its non-blocking form",
            "file:4:37: there is no `MPIDI_Bcast_intra_composition_alpha` here: the component below serves these calls",
            "file:6:38: `total_msg_size<9` never holds here: ranks do not know this of each other",
            "file:7:104: `tree=1` has no counterpart here and is left out",
        ]
    );
    for (collective, expected) in
        [(Allreduce, "below"), (Bcast, "below"), (Barrier, "dissemination"), (Gather, "binomial")]
    {
        assert_eq!(chosen(&rules, Call::new(collective, 9, 1)), expected);
    }
}

#[test]
fn faults_have_places() {
    for (text, expected) in [
        (
            r#"{ "colective=bcast": {} }"#,
            "1:4: unknown question `colective`; the nearest known one is `collective`",
        ),
        (
            r#"{ "collective=bcost": {} }"#,
            "1:4: unknown collective `bcost`; the nearest known one is `bcast`",
        ),
        (r#"{ "collective=bcast": 3 }"#, "1:23: expected `{`"),
        (
            r#"{ "collective=bcast": { "algorithm=MPIR_Bcast_intra_binomal": {} } }"#,
            "1:26: unknown bcast algorithm of MPICH `MPIR_Bcast_intra_binomal`; the nearest known one is \
             `MPIR_Bcast_intra_binomial`",
        ),
        (r#"{ "algorithm=MPIR_Bcast_intra_binomial": {} }"#, "1:4: no collective is named above"),
        (r#"{ "collective=bcast": { "comm_size<x": {} } }"#, "1:26: `x` is not a number"),
        (r#"{ "collective=bcast": { "comm_size<0": {} } }"#, "1:26: nothing is less than 0"),
        (
            r#"{ "collective=bcast": { "comm_size=3": {} } }"#,
            "1:26: MPICH has no question `comm_size=3`; behind `comm_size` comes `<` or `<=` and a number, `=pow2`, \
             `=node_comm_size` or `=any`",
        ),
        (
            r#"{ "collective=bcast": { "is_commutative=yes": { "algorithm=MPIR_Bcast_intra_binomial": {} } } }"#,
            "1:26: `commutative` cannot be used here: bcast has no operator",
        ),
        (
            r#"{ "collective=bcast": { "comm_size<3": {}, "algorithm=MPIR_Bcast_intra_binomial": {} } }"#,
            "1:23: an algorithm stands alone, for MPICH asks no question beside it",
        ),
    ] {
        let Err(errors) = Rules::parse("file", text) else { panic!("{text}") };
        assert_eq!(errors.to_string().lines().next(), Some(&format!("file:{expected}")[..]), "{text}");
    }
    let deep =
        format!("{{\"collective=bcast\":{}{}}}", "{\"any\":".repeat(100), "{}".to_owned() + &"}".repeat(100));
    let errors = Rules::parse("file", &deep).unwrap_err().to_string();
    assert!(errors.contains("this is nested deeper than 10 questions"), "{errors}");
}
