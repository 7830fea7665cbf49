use crate::algorithms::Collective::*;
use crate::selection::samples::{chosen, read};
use crate::selection::{Call, Rules};

fn of_rules(collective: &str, communicators: &str) -> String {
    format!(
        "{{ \"rule_file_version\": 3, \"module\": \"tuned\",\n\"collectives\": {{ \"{collective}\": [\n{communicators}\n] }} }}"
    )
}

/// The example of Open MPI's documentation, with its trailing comma but with other numbers.
#[test]
fn the_first_communicator_and_the_first_message_that_fit_decide() {
    let rules = read(&of_rules(
        "allreduce",
        r#"{ "comm_size_min": 64, "comm_size_max": 128, "rules": [
             { "msg_size_min": 512, "msg_size_max": 511999, "alg": 2, }, // 2 is nonoverlapping
             { "msg_size_min": 512000, "msg_size_max": "inf", "alg": "recursive_doubling", "reqs": 8 } ] },
           { "comm_size_max": 127, "rules": [ { "alg": "ring" } ] },
           { "comm_rank_distribution": "one-per-node", "rules": [ { "alg": "segmented_ring", "seg_size": 100 } ] }"#,
    ));
    assert!(rules.notes().is_empty(), "{:?}", rules.notes());
    for ((size, bytes), expected) in [
        ((64, 512), "reduce_bcast"),
        ((128, 512_000), "recursive_doubling"),
        // The first communicator fits, so the second does not count.
        ((64, 511), "below"),
        ((63, 511), "ring"),
        ((129, 0), "below"),
    ] {
        assert_eq!(chosen(&rules, Call::new(Allreduce, size, bytes)), expected, "p = {size}, {bytes} bytes");
    }
    let spread = Call { ranks_per_node: Some(1), ..Call::new(Allreduce, 200, 9) };
    assert_eq!(chosen(&rules, spread), "ring_segmented");
    assert_eq!(rules.of(Allreduce)[0].origin.to_string(), "file:4:14");
}

#[test]
fn the_radix_of_open_mpi_6_is_the_fan_out() {
    let rules =
        read(&of_rules("allgather", r#"{ "rules": [ { "alg": "bruck-k-fanout", "faninout": 5 } ] }"#));
    assert!(rules.to_native().contains("algorithm = \"bruck\"\nradix = 5\n"), "{}", rules.to_native());
}

/// Open MPI would decide these calls itself, so rustcoll's default rules must not take them.
#[test]
fn what_no_communicator_fits_is_left_to_open_mpi() {
    let of_few = read(&of_rules("bcast", r#"{ "comm_size_max": 8, "rules": [ { "alg": 6 } ] }"#));
    let rules = of_few.followed_by(Rules::built_in());
    assert_eq!(chosen(&rules, Call::new(Bcast, 8, 1)), "binomial");
    assert_eq!(chosen(&rules, Call::new(Bcast, 9, 1)), "below");
    assert_eq!(chosen(&rules, Call { remote: 3, ..Call::new(Bcast, 9, 1) }), "inter_linear");
    assert_ne!(chosen(&rules, Call::new(Allreduce, 9, 1)), "below");
}

#[test]
fn names_and_numbers_are_taken_as_open_mpi_takes_them() {
    for named in [r#""Binomial""#, r#""6""#, "6"] {
        let rules = read(&of_rules("bcast", &format!("{{ \"rules\": [ {{ \"alg\": {named} }} ] }}")));
        assert_eq!(chosen(&rules, Call::new(Bcast, 8, 1)), "binomial", "{named}");
        assert_eq!(rules.notes(), [], "{named}");
    }
}

#[test]
fn what_open_mpi_passes_over_is_noted() {
    let rules =
        read(&of_rules("bcast", r#"{ "rules": [ { "alg": "binomal" }, { "alg": 6 }, { "alg": 5 } ] }"#));
    let notes: Vec<_> = rules.notes().iter().map(|note| note.to_string()).collect();
    assert_eq!(
        notes,
        [
            "file:3:23: unknown bcast algorithm `binomal`; the nearest known one is `binomial`; Open MPI passes this rule over",
            "file:3:50: this rule never decides: the one at file:3:36 covers it",
        ]
    );
    assert_eq!(chosen(&rules, Call::new(Bcast, 4, 4)), "binomial");
    let rules = read(&of_rules("gatherv", r#"{ "rules": [ { "alg": 1 } ] }"#));
    assert_eq!(rules.notes().len(), 1);
}

#[test]
fn faults_have_places() {
    for (communicators, expected) in [
        (r#"{ "rules": [ { "alg": 1 "#, "4:1: Unexpected token in object"),
        (r#"{ "rules": [ { "alk": 1 } ] }"#, "3:14: there is no `alg`"),
        (r#"{ "rules": [ { } ] }"#, "3:14: there is no `alg`"),
        (r#"{ "rules": [ { "alg": [] } ] }"#, "3:23: expected a number or a name"),
        (r#"{ "rules": {} }"#, "3:12: expected `[`"),
        (r#"7"#, "3:1: expected `{`"),
        (r#"{ "comm_size_min": 3 }"#, "3:1: there is no `rules`"),
        (
            r#"{ "comm_size_min": -3, "rules": [] }"#,
            "3:20: `comm_size_min` is a number from 0 up or \"inf\", not `-3`",
        ),
        (
            r#"{ "comm_size_min": "4k", "rules": [] }"#,
            "3:20: `comm_size_min` is a number from 0 up or \"inf\", not `4k`",
        ),
        (
            r#"{ "comm_size_min": 3, "comm_size_max": 2, "rules": [] }"#,
            "3:40: `comm_size_min` is larger than `comm_size_max`",
        ),
        (
            r#"{ "comm_rank_distribution": "one-per-nod", "rules": [] }"#,
            "3:29: unknown distribution `one-per-nod`; the nearest known one is `one-per-node`",
        ),
        (r#"{ "rules": [ { "alg": 1, "alg": 2 } ] }"#, "3:27: `alg` stands twice"),
    ] {
        let errors = Rules::parse("file", &of_rules("bcast", communicators)).unwrap_err().to_string();
        assert_eq!(errors.lines().next(), Some(&format!("file:{expected}")[..]), "{communicators}");
    }
    let misspelt = of_rules("bcast", r#"{ "rules": [ { "alg": 1, "regs": 2 } ] }"#);
    let errors = Rules::parse("file", &misspelt).unwrap_err().to_string();
    assert_eq!(errors, "file:3:27: unknown key `regs`; the nearest known one is `reqs`");
    let errors = Rules::parse("file", &of_rules("bcost", "")).unwrap_err().to_string();
    assert_eq!(errors, "file:2:19: unknown collective `bcost`; the nearest known one is `bcast`");
    let errors = Rules::parse("file", r#"{ "module": "tuned", "colectives": {} }"#).unwrap_err().to_string();
    assert_eq!(
        errors,
        "file:1:1: there is no `collectives`\nfile:1:23: unknown key `colectives`; the nearest known one is `collectives`"
    );
    let errors =
        Rules::parse("file", r#"{ "collectives": { "bcast": 3 }, "modul": 1 }"#).unwrap_err().to_string();
    assert_eq!(
        errors,
        "file:1:29: expected `[`\nfile:1:35: unknown key `modul`; the nearest known one is `module`"
    );
}
