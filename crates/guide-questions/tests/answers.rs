//! Questions as the page asks them.

use rustcoll::algorithms::{Collective, registered};
use rustcoll::cost::machine::SHIPPED;
use serde_json::{Value, json};

fn reply(question: Value) -> Value {
    serde_json::from_str(&guide_questions::answer(&question.to_string())).unwrap()
}

fn ok(question: Value) -> Value {
    let mut reply = reply(question);
    assert!(reply["error"].is_null(), "{reply}");
    reply["ok"].take()
}

fn error(question: Value) -> (String, Option<String>) {
    let error = &reply(question)["error"];
    (error["message"].as_str().unwrap().into(), error["field"].as_str().map(str::to_string))
}

fn trace(collective: &str, algorithm: &str, problem: Value) -> Value {
    json!({"trace": {"collective": collective, "algorithm": algorithm, "problem": problem}})
}

#[test]
fn the_catalog_has_every_algorithm_once() {
    let catalog = ok(json!({"catalog": {}}));
    let collectives = catalog["collectives"].as_array().unwrap();
    let of = |collective: &Value| collective["algorithms"].as_array().unwrap().len();
    assert_eq!(
        collectives.iter().map(of).sum::<usize>(),
        Collective::ALL.into_iter().flat_map(Collective::algorithms).count()
    );
    assert_eq!(collectives[0]["mpi"], "MPI_Allgather");
    let machines =
        catalog["machines"].as_array().unwrap().iter().map(|machine| machine["name"].as_str().unwrap());
    assert!(machines.eq(["hockney"].into_iter().chain(SHIPPED.map(|shipped| shipped.name))));
}

#[test]
fn a_run_has_its_steps_buffers_and_totals() {
    let run = ok(trace("alltoall", "bruck", json!({"ranks": 8, "radix": 2})));
    assert_eq!(run["steps"].as_array().unwrap().len(), 5);
    assert_eq!(run["steps"][3]["total_blocks"], 3 * 4 * 8);
    assert_eq!(run["verdict"]["is_correct"], true);
    let names: Vec<_> = run["buffers"].as_array().unwrap().iter().map(|buffer| &buffer["name"]).collect();
    assert_eq!(names, ["send", "recv", "scratch"]);
    assert_eq!(run["problem"]["radix"], 2);
    assert_eq!(run["problem"]["root"], Value::Null);
}

#[test]
fn every_algorithm_can_be_drawn() {
    for algorithm in registered() {
        for ranks in [2, 8, 13] {
            let reply = reply(trace(algorithm.contract().name(), algorithm.name, json!({"ranks": ranks})));
            let is_odd = ranks == 13 && reply["error"]["message"].to_string().contains("odd");
            let run = &reply["ok"];
            assert!(run["verdict"]["is_correct"] == true || is_odd, "{} {ranks}: {reply}", algorithm.name);
            assert!(is_odd || run["calls"].is_null() != algorithm.is_mock_up());
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_by_the_name_of_its_control() {
    for (problem, field, message) in [
        (json!({"ranks": 33}), "ranks", "ranks 33: expected a whole number from 2 to 32"),
        (json!({"ranks": -1}), "ranks", "ranks -1: expected a whole number from 2 to 32"),
        (json!({"ranks": 8, "root": 2.5}), "root", "root 2.5: expected a whole number from 0 to 4294967295"),
        (
            json!({"ranks": 8, "window": 1e12}),
            "window",
            "window 1000000000000: expected a whole number from 1 to 32",
        ),
        (json!({"ranks": 8, "root": 8}), "root", "root 8: ranks are numbered from 0 to 7"),
        (json!({"ranks": 8, "radix": 9}), "radix", "radix 9: there are but 8 ranks"),
        (json!({"ranks": 8, "radix": 1}), "radix", "radix 1: expected a number from 2 up"),
        (json!({"ranks": 8, "in_place": true}), "in_place", "in_place has no effect on bcast knomial"),
    ] {
        assert_eq!(error(trace("bcast", "knomial", problem)), (message.into(), Some(field.into())));
    }
    let (message, field) = error(trace("bcast", "knomal", json!({"ranks": 8})));
    assert_eq!(message, "unknown bcast algorithm `knomal`; the nearest known one is `knomial`");
    assert_eq!(field.as_deref(), Some("algorithm"));
    assert!(error(json!({"cataloge": {}})).0.starts_with("the question is none: unknown variant `cataloge`"));
}

#[test]
fn what_is_exported_can_be_loaded_and_is_judged() {
    let subject = json!({"collective": "bcast", "algorithm": "binomial", "problem": {"ranks": 5, "root": 2}});
    let text = ok(json!({"schedule": {"subject": subject, "form": "text", "bytes": 0}}));
    let text = text.as_str().unwrap();
    let own = |text: &str, root| ok(json!({"own": {"collective": "bcast", "text": text, "root": root}}));
    let right = own(text, 2);
    assert_eq!(right["verdict"]["is_correct"], true);
    assert_eq!(right["problem"]["ranks"], 5);
    let wrong = own(text, 1);
    assert_eq!(wrong["verdict"]["is_correct"], false);
    assert!(wrong["verdict"]["message"].is_string());
    let malformed =
        reply(json!({"own": {"collective": "bcast", "text": "rank 0 of 2, 1 blocks\n0: sand to 1"}}));
    assert_eq!(malformed["error"]["places"][0]["line"], 2);
    let goal = ok(json!({"schedule": {"subject": subject, "form": "goal", "bytes": 8}}));
    assert!(goal.as_str().unwrap().contains("num_ranks 5"));
}

#[test]
fn own_schedules_that_cannot_be_drawn_are_refused() {
    let two = "rank 1 of 2, 1 blocks\n0: receive from 0 into recv[0]\nwait 0\n\
               rank 0 of 2, 1 blocks\n0: send to 1 from recv[0]\nwait 0\n";
    let own = |text: &str| json!({"own": {"collective": "bcast", "text": text}});
    assert_eq!(ok(own(two))["verdict"]["is_correct"], true, "in any order");
    for (text, message) in [
        ("rank 0 of 2, 1 blocks", "line 1, column 1: the program of rank 1 of 2 is missing"),
        (
            "rank 0 of 1, 1 blocks\nrank 0 of 1, 1 blocks",
            "line 2, column 1: this is a second program of rank 0 of 1",
        ),
        ("rank 0 of 2, 1 blocks\nrank 1 of 3, 1 blocks", "rank 1 is said to be one of 3; others are of 2"),
        ("rank 5 of 1, 1 blocks", "line 1, column 1: there is no rank 5 among 1 ranks"),
        ("rank 0 of 1, 4294967295 blocks", "rank 0 has 4294967295 blocks; at most 1024 can be drawn"),
        (
            "rank 0 of 1, 1 blocks\ncopy recv[0] to scratch[99999]",
            "rank 0 has 100000 scratch blocks; at most 1024 can be drawn",
        ),
    ] {
        assert_eq!(error(own(text)), (message.into(), Some("text".into())));
    }
    let program = "rustcoll schedule, version 1\ncollective allreduce\nname big\nrank any of 32, 1024 blocks\n\
                   for i in 0..5000\nsend to (rank + 1) % size from send[0..1024]\n\
                   receive from (rank - 1) % size into scratch[0..1024]\nwait\nend\n";
    let question = json!({"own": {"collective": "allreduce", "text": program}});
    let message = "the ranks use blocks 327840000 times; at most 262144 uses can be drawn";
    assert_eq!(error(question), (message.into(), Some("text".into())));
    let question = json!({"own": {"collective": "allreduce", "text": two, "root": 1}});
    assert_eq!(error(question), ("root has no effect on allreduce".into(), Some("root".into())));
}

#[test]
fn a_schedule_file_is_drawn_for_any_root() {
    let chain = "rustcoll schedule, version 1\ncollective bcast\nname mine\nroot any\n\
                 rank 0 of 2, 1 blocks\n0: send to 1 from recv[0]\nwait 0\n\
                 rank 1 of 2, 1 blocks\n0: receive from 0 into recv[0]\nwait 0\n";
    let own = |text: &str, root| json!({"own": {"collective": "bcast", "text": text, "root": root}});
    for root in [0, 1] {
        assert_eq!(ok(own(chain, root))["verdict"]["is_correct"], true, "root {root}");
    }
    let refused = |text: &str, root, message: &str, field: &str| {
        assert_eq!(error(own(text, root)), (message.into(), Some(field.into())));
    };
    let only = chain.replace("any", "0");
    refused(&only, 1, "the programs of this file are for root 0", "root");
    let scatter = chain.replace("bcast", "scatter").replace("1 blocks", "2 blocks");
    refused(&scatter, 0, "this file is of scatter, and this page of bcast", "text");
    let two = format!("{chain}rank 0 of 1, 1 blocks\n");
    refused(
        &two,
        0,
        "this file has programs for 1..2 ranks; leave those for one number, which are drawn",
        "text",
    );
    refused(
        "rustcoll",
        0,
        "line 1, column 1: a schedule file begins with \"rustcoll schedule, version 1\"",
        "text",
    );
}

/// The schedules of an algorithm, as the page offers them to start from.
fn example(collective: &str, algorithm: &str, problem: Value) -> String {
    let subject = json!({"collective": collective, "algorithm": algorithm, "problem": problem});
    let text = ok(json!({"schedule": {"subject": subject, "form": "text", "bytes": 0}}));
    text.as_str().unwrap().into()
}

#[test]
fn ranks_know_no_lengths_but_those_in_their_arguments() {
    let verdict = |collective: &str, text: &str| {
        ok(json!({"own": {"collective": collective, "text": text}}))["verdict"].take()
    };
    let binomial = example("gatherv", "binomial", json!({"ranks": 4}));
    let fault = "this program has scratch blocks or slots, but in gatherv ranks know only how long their own blocks are";
    let as_programs = verdict("gatherv", &binomial);
    assert_eq!(as_programs["is_correct"], false);
    assert!(as_programs["message"].as_str().unwrap().ends_with(fault), "{as_programs}");
    let file = format!("rustcoll schedule, version 1\ncollective gatherv\nname mine\n{binomial}");
    let (as_file, _) = error(json!({"own": {"collective": "gatherv", "text": file}}));
    assert!(as_file.ends_with(fault), "{as_file}");
    let ring = json!({"ranks": 4, "periodic": true});
    for (collective, algorithm, problem) in [
        ("gatherv", "linear", json!({"ranks": 4})),
        ("neighbor_alltoall", "combining", ring.clone()),
        ("neighbor_alltoallv", "linear", ring),
    ] {
        let text = example(collective, algorithm, problem);
        assert_eq!(verdict(collective, &text)["is_correct"], true, "{collective} {algorithm}");
    }
}

/// Asks for the line at which a user's text is at fault.
fn line_at_fault(own: Value) -> Value {
    ok(json!({ "own": own }))["verdict"]["line"].take()
}

#[test]
fn a_fault_in_a_loop_has_the_line_of_its_step() {
    let subject = json!({"collective": "allgather", "algorithm": "ring", "problem": {"ranks": 8}});
    let ring = ok(json!({"schedule": {"subject": subject, "form": "text", "bytes": 0}}));
    let ring = ring.as_str().unwrap();
    let line = |text: &str| line_at_fault(json!({"collective": "allgather", "text": text}));
    assert_eq!(line(ring), Value::Null);
    assert_eq!(line(&ring.replace("3: send to 1 ", "3: send to 0 ")), 8);
    assert_eq!(line(&ring.replacen("recv[6]; each time blocks -1", "recv[6]; each time blocks -2", 1)), 7);
}

#[test]
fn a_fault_in_a_schedule_file_has_a_line_of_the_program_that_its_rank_runs() {
    let text = "rustcoll schedule, version 1\ncollective bcast\nname mine\nroot any\n\
                rank 0 of 3, 1 blocks\n0: send to 1 from recv[0]\n1: send to 1 from recv[0]\nwait 0 1\n\
                rank 1 of 3, 1 blocks\n0: receive from 0 into recv[0]\nwait 0\n\
                rank 2 of 3, 1 blocks\n";
    for root in 0..3 {
        let own = json!({"collective": "bcast", "text": text, "root": root});
        assert_eq!(line_at_fault(own), 7, "root {root}");
    }
}

#[test]
fn a_fault_in_a_program_for_any_number_of_ranks_has_its_line_there() {
    let text = "rustcoll schedule, version 1\ncollective allgather\nname mine\nrank any of 5, size blocks\n\
                copy send[rank] to recv[rank]\nfor round in 0..size - 1\n\
                send to (rank + 1) % size from recv[(rank - round) % size]\n\
                receive from (rank - 1) % size into recv[(rank - round - 1) % size]\nwait\nend\n";
    let line = |text: &str, in_place| {
        line_at_fault(json!({"collective": "allgather", "text": text, "in_place": in_place}))
    };
    assert_eq!(line(text, false), Value::Null);
    let self_sent = text.replace("send to (rank + 1)", "send to (rank + round)");
    assert_eq!(line(&self_sent, false), 7);
    assert_eq!(line(&self_sent, true), 4, "a call in place has other steps");
    assert_eq!(line(&text.replace("0..size - 1", "0..size - 2"), false), 4);
}

/// Such programs cannot be renumbered for another root.
#[test]
fn a_schedule_file_with_runs_that_do_not_exist_is_refused() {
    let file = |blocks: usize| {
        format!(
            "rustcoll schedule, version 1\ncollective gather\nname mine\nroot any\n\
             rank 0 of 2, {blocks} blocks\ncopy send[0..2] to recv[0]\nrank 1 of 2, {blocks} blocks\n"
        )
    };
    for (blocks, message) in [
        (
            2,
            "line 6, column 1: for root 0: rank 0, step 0: send[0..2] is out of range: here send has block 0 alone",
        ),
        (0, "line 5, column 1: for root 0: rank 0: 0 blocks instead of 2"),
    ] {
        let question = json!({"own": {"collective": "gather", "text": file(blocks), "root": 1}});
        assert_eq!(error(question), (message.into(), Some("text".into())));
    }
}

#[test]
fn what_is_reduced_again_and_again_is_drawn_in_time() {
    let step = "copy recv[0] to scratch[0]\nreduce recv[0] = scratch[0] + recv[0]\n";
    let rank = |rank| format!("rank {rank} of 2, 1 blocks\ncopy send[0] to recv[0]\n{}", step.repeat(500));
    let run = ok(json!({"own": {"collective": "allreduce", "text": rank(0) + &rank(1)}}));
    assert_eq!(run["verdict"]["is_correct"], false);
    assert!(run.to_string().len() < 1 << 20);
}

#[test]
fn whatever_is_asked_is_answered() {
    let subject = json!({"collective": "allreduce", "algorithm": "ring", "problem": {"ranks": 4}});
    let questions = [
        trace("bcast", "knomial", json!({"ranks": 8, "root": 2, "radix": 3})),
        trace("neighbor_alltoall", "linear", json!({"ranks": 6, "grid": "2x3", "periodic": true})),
        json!({"schedule": {"subject": subject, "form": "goal", "bytes": 8}}),
        json!({"timeline": {"subject": subject, "machine": {"preset": "emulated", "gap": 0.5}, "bytes": 8}}),
        json!({"decisions": {"collective": "bcast", "rules": null, "ranks": [4, 64], "ranks_per_node": 2, "tcp": false,
            "grid": {"neighbours": 6, "dimensions": 3}}}),
        json!({"prices": {"collective": "scan", "machine": {"preset": "hockney"}, "ranks": 4, "bytes": [8], "sweep": true}}),
        json!({"own": {"collective": "bcast", "text": "rank 0 of 1, 1 blocks\n", "root": 0}}),
    ];
    let strange = [
        json!(-1),
        json!(0),
        json!(1),
        json!(2.5),
        json!(33),
        json!(4294967296u64),
        json!(1e300),
        json!(""),
        json!("é"),
        json!([]),
        json!({}),
        json!(true),
        Value::Null,
    ];
    for question in &questions {
        for path in paths(question) {
            for value in &strange {
                let mut asked = question.clone();
                *asked.pointer_mut(&path).unwrap() = value.clone();
                let reply = reply(asked.clone());
                assert!(reply["ok"].is_null() != reply["error"].is_null(), "{asked}: {reply}");
            }
        }
    }
}

/// Returns the paths to all values inside a value, as JSON pointers.
fn paths(value: &Value) -> Vec<String> {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(parts) => parts.iter().map(|(name, part)| (name.clone(), part)).collect(),
        Value::Array(parts) => {
            parts.iter().enumerate().map(|(number, part)| (number.to_string(), part)).collect()
        }
        _ => Vec::new(),
    };
    let below = |(name, part): &(String, &Value)| {
        let here = format!("/{name}");
        let deeper = paths(part).into_iter().map(|path| format!("{here}{path}")).collect::<Vec<_>>();
        [vec![here], deeper].concat()
    };
    parts.iter().flat_map(below).collect()
}

#[test]
fn rules_decide_in_pieces_and_their_faults_have_places() {
    let question = |rules: Value| json!({"decisions": {"collective": "allreduce", "rules": rules, "ranks": [4, 64], "ranks_per_node": 1, "tcp": false}});
    let text = "[[allreduce]]\nbytes = \"..1K\"\nalgorithm = \"ring\"\n\n[[allreduce]]\nalgorithm = \"rabenseifner\"\n";
    let found = ok(question(json!({"name": "own.toml", "text": text})));
    assert_eq!(found["columns"][1], json!([{"bytes": 0.0, "region": 0}, {"bytes": 1025.0, "region": 1}]));
    assert_eq!(found["regions"][1]["label"], "rabenseifner");
    assert_eq!(found["regions"][0]["line"], 1);
    assert!(ok(question(Value::Null))["regions"].as_array().unwrap().len() > 1);
    let wrong = reply(question(json!({"name": "own.toml", "text": "[[allreduce]]\nalgorithm = \"rung\"\n"})));
    assert_eq!(wrong["error"]["places"][0]["line"], 2);
}

#[test]
fn rules_ask_for_bytes_of_neighbours_on_grids_alone() {
    let decided = |grid: Value| {
        let found = ok(json!({"decisions": {"collective": "neighbor_alltoall", "rules": null, "ranks": [27],
            "ranks_per_node": 1, "tcp": true, "grid": grid}}));
        let regions = found["regions"].as_array().unwrap();
        let labels: Vec<_> = regions.iter().map(|region| region["label"].clone()).collect();
        json!([found["measure"], labels])
    };
    assert_eq!(
        decided(json!({"neighbours": 26, "dimensions": 3})),
        json!(["one block", ["combining", "linear"]])
    );
    assert_eq!(decided(json!({"neighbours": 6, "dimensions": 3})), json!(["one block", ["linear"]]));
    assert_eq!(decided(Value::Null), json!([null, ["linear"]]));
    let catalog = ok(json!({"catalog": {}}));
    for collective in catalog["collectives"].as_array().unwrap() {
        let has_combining =
            ["neighbor_allgather", "neighbor_alltoall"].map(Value::from).contains(&collective["name"]);
        assert_eq!(collective["has_grids"], has_combining, "{collective}");
    }
}

#[test]
fn many_rules_decide_in_many_regions() {
    let rule = |number: usize| {
        format!("[[allreduce]]\nbytes = \"{}..{}\"\nalgorithm = \"ring\"\n", 10 * number, 10 * number + 9)
    };
    let text: String = (0..1000).map(rule).collect();
    let rules = json!({"name": "many.toml", "text": text});
    let found = ok(json!({"decisions": {"collective": "allreduce", "rules": rules, "ranks": [2, 3, 4],
        "ranks_per_node": 1, "tcp": false, "grid": null}}));
    // Behind the last rule no rule matches.
    assert_eq!(found["regions"].as_array().unwrap().len(), 1001);
    assert_eq!(found["columns"][2][999], json!({"bytes": 9990.0, "region": 999}));
}

/// Leonardo has other latencies on more than 16 nodes.
#[test]
fn what_is_changed_of_a_machine_holds_on_any_number_of_nodes() {
    let question = |ranks: usize| {
        let machine = json!({"preset": "leonardo", "latency": 1.0, "ranks_per_node": 1});
        json!({"prices": {"collective": "barrier", "machine": machine, "ranks": ranks, "bytes": [0], "sweep": false}})
    };
    for (ranks, rounds) in [(16, 4.0), (32, 5.0)] {
        let prices = ok(question(ranks));
        let candidates = prices["candidates"].as_array().unwrap();
        let doubling = candidates.iter().find(|one| one["label"] == "recursive_doubling").unwrap();
        let seconds = doubling["seconds"][0].as_f64().unwrap();
        assert!((rounds..rounds + 0.01).contains(&seconds), "{ranks} ranks: {seconds}");
    }
}

#[test]
fn prices_and_timelines_agree() {
    let machine = json!({"preset": "hockney", "latency": 1e-5});
    let prices = ok(
        json!({"prices": {"collective": "allreduce", "machine": machine, "ranks": 8, "bytes": [8, 65536], "sweep": false}}),
    );
    let ring = prices["candidates"].as_array().unwrap().iter().find(|one| one["label"] == "ring").unwrap();
    let subject = json!({"collective": "allreduce", "algorithm": "ring", "problem": {"ranks": 8}});
    let timeline = ok(json!({"timeline": {"subject": subject, "machine": machine, "bytes": 65536}}));
    assert_eq!(ring["seconds"][1], timeline["seconds"]);
    let far = json!({"timeline": {"subject": subject, "machine": machine, "bytes": 4194305}});
    assert_eq!(error(far).0, "bytes 4194305: expected a whole number from 0 to 4194304");
    let (message, field) = error(
        json!({"timeline": {"subject": subject, "machine": {"preset": "hockney", "gap": -1.0}, "bytes": 8}}),
    );
    assert_eq!(
        (message.as_str(), field.as_deref()),
        ("gap -1.0: expected seconds from 0 to 10", Some("gap"))
    );
}

/// A machine cannot say otherwise.
#[test]
fn a_timeline_has_the_nodes_of_its_run() {
    let seconds = |algorithm: &str, problem: Value, sharing: usize| {
        let subject = json!({"collective": "alltoall", "algorithm": algorithm, "problem": problem});
        let machine = json!({"preset": "leonardo", "ranks_per_node": sharing});
        let timeline = json!({"timeline": {"subject": subject, "machine": machine, "bytes": 1024}});
        ok(timeline)["seconds"].as_f64().unwrap()
    };
    let nodes = json!({"ranks": 8, "ranks_per_node": 4});
    assert_eq!(seconds("node_aware", nodes.clone(), 1), seconds("node_aware", nodes, 4));
    assert_eq!(seconds("shared", json!({"ranks": 8}), 1), seconds("shared", json!({"ranks": 8}), 8));
    assert_ne!(seconds("bruck", json!({"ranks": 8}), 1), seconds("bruck", json!({"ranks": 8}), 8));
    let catalog = ok(json!({"catalog": {}}));
    let collectives = catalog["collectives"].as_array().unwrap();
    let alltoall = collectives.iter().find(|one| one["name"] == "alltoall").unwrap();
    let algorithms = alltoall["algorithms"].as_array().unwrap();
    let places = |name: &str| &algorithms.iter().find(|one| one["name"] == name).unwrap()["places_ranks"];
    assert_eq!(["node_aware", "shared", "bruck"].map(places), [true, true, false]);
}

#[test]
fn a_barrier_carries_no_data() {
    for (collective, algorithm, has_data) in [("barrier", "tree", false), ("bcast", "binomial", true)] {
        assert_eq!(
            ok(trace(collective, algorithm, json!({"ranks": 4})))["has_data"],
            has_data,
            "{algorithm}"
        );
    }
}
