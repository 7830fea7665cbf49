//! The command itself: what it prints, and the code with which it ends.

mod common;

use common::{folder, rustcoll, rustcoll_reading};
use rustcoll::algorithms::{Algorithm, Collective};
use rustcoll::schedule::Schedule;
use std::fs;

use std::process::{Command, Stdio};

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap()
}

/// Returns each collective with each of its algorithms, in the order of the table.
fn listed() -> impl Iterator<Item = (Collective, &'static Algorithm)> {
    Collective::ALL.into_iter().flat_map(|one| one.algorithms().map(move |algorithm| (one, algorithm)))
}

#[test]
fn all_algorithms_are_listed() {
    let table = rustcoll("algorithms").right();
    assert!(table.starts_with("collective"));
    for (line, (collective, algorithm)) in table.lines().skip(1).zip(listed()) {
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some(collective.name()));
        assert_eq!(words.next(), Some(algorithm.name));
    }
    assert_eq!(table.lines().count(), 1 + listed().count());
    assert_eq!(
        rustcoll("algorithms scan").right().lines().count(),
        1 + Collective::Scan.algorithms().count()
    );
}

#[test]
fn one_algorithm_is_described_with_its_cost() {
    assert_eq!(
        rustcoll("algorithms bcast knomial --ranks 1000").right(),
        "bcast knomial\n  \
         idea: A tree in which every rank has up to k − 1 children in a round: fewer rounds than with a binomial tree, but more \
         messages for the root.\n  \
         avoid when: vectors are long.\n  \
         parameters: radix (radix from 2 up, cut to the number of ranks; sqrt is the square root of the number of ranks, \
         rounded up)\n  \
         source: the k-nomial trees of MPICH and Open MPI\n  \
         cost: 62 rounds, 62 messages, 62 blocks, 0 reduced, 0 read on 1000 ranks, those of the busiest rank\n"
    );
    let odd = rustcoll("algorithms allgather neighbor_exchange --ranks 7").right();
    assert_eq!(last_line(&odd), "  cost: none on 7 ranks: the number of ranks is odd");
    let all = rustcoll("algorithms --long").right();
    assert_eq!(all.matches("\n  cost: ").count(), listed().count());
    // By one of Open MPI's names.
    assert!(rustcoll("algorithms bcast pipeline").right().starts_with("bcast chain\n"));
}

#[test]
fn schedules_are_printed_in_their_text_form() {
    assert_eq!(
        rustcoll("schedule bcast binomial --ranks 4 --root 1 --rank 1").right(),
        "rank 1 of 4, 1 blocks\n0: send to 3 from recv[0]\n1: send to 2 from recv[0]\nwait 0 1\n"
    );
    let all = rustcoll("schedule reduce_scatter ring --ranks 5").right();
    let programs: Vec<Schedule> = all.split("\n\n").map(|text| text.parse().unwrap()).collect();
    assert_eq!(programs.iter().map(|program| program.rank).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    let between = rustcoll("schedule allreduce inter_leaders --ranks 5 --remote 2 --rank 4").right();
    assert!(between.starts_with("rank 4 of 5, "));
}

#[test]
fn schedules_are_exported_for_simulators() {
    assert_eq!(
        rustcoll("schedule bcast binomial --ranks 2 --goal --bytes 1KiB").right(),
        "// calc n: n bytes are copied or reduced; calc 0: a wait\n\
         num_ranks 2\n\
         rank 0 {\nl0: send 1024b to 1 tag 0\nl1: calc 0\nl1 requires l0\n}\n\
         rank 1 {\nl0: recv 1024b from 0 tag 0\nl1: calc 0\nl1 requires l0\n}\n"
    );
    assert!(rustcoll("schedule bcast binomial --ranks 2 --goal").refused(2).contains("--bytes"));
    let refusal = rustcoll("schedule bcast shared --ranks 2 --goal --bytes 1KiB").refused(2);
    assert!(
        refusal.contains("--goal: bcast shared uses shared memory, which GOAL does not know"),
        "{refusal}"
    );
}

#[test]
fn what_is_asked_for_in_a_wrong_way_is_refused_with_a_reason() {
    for (line, expected) in [
        ("", "Usage: rustcoll"),
        ("frobnicate", "unrecognized subcommand 'frobnicate'"),
        ("schedule alreduce ring --ranks 3", "'allreduce'"),
        (
            "schedule allreduce ringg --ranks 3",
            "unknown allreduce algorithm `ringg`; the nearest known one is `ring`",
        ),
        ("schedule allreduce ring --ranks 0", "0 is not from 1 to 1048576"),
        ("schedule allreduce ring --ranks 3 --rank 3", "--rank 3: ranks are numbered from 0 to 2"),
        ("schedule allreduce ring --ranks 3 --rank some", "`some` is not a number"),
        ("schedule allreduce ring --ranks 3 --goal --bytes 1KB", "unknown unit `KB`"),
        ("algorithms bcast bruck", "unknown bcast algorithm `bruck`"),
        ("verify --ranks 0..3", "0 is not from 1 to 1024"),
        ("verify --collective bcast --algorithm brook", "unknown bcast algorithm `brook`"),
        ("verify --algorithm inter_linear --ranks 1", "there is nothing to verify"),
        ("rules check", "<FILES>..."),
        (
            "rules explain --collective allreduce --ranks 3",
            "--bytes is missing: allreduce is measured by the whole vector",
        ),
        (
            "rules explain --collective barrier --ranks 3 --bytes 3",
            "no bytes of this barrier that all ranks know",
        ),
        (
            "rules explain --collective bcast --ranks 3 --bytes 3 --root 3",
            "--root 3: ranks are numbered from 0 to 2",
        ),
        ("rules explain --collective bcast --ranks 3 --bytes 3 --in-place", "--in-place has no effect"),
        ("rules explain --collective allgather --ranks 3 --bytes 3 --longest 3", "--longest has no effect"),
        (
            "rules explain --collective allgatherv --ranks 3 --bytes 31 --longest 10",
            "31 bytes in 3 blocks have a longest block of 11 to 31",
        ),
        (
            "rules explain --collective bcast --ranks 3 --bytes 3 --reproducible",
            "--reproducible has no effect",
        ),
        (
            "rules explain --collective bcast --ranks 3 --bytes 3 --nodes 4",
            "--nodes 4: there are but 3 ranks",
        ),
        ("rules explain --collective scan --ranks 3 --bytes 3 --remote 1", "scan is of one group only"),
        (
            "rules explain --collective gather --ranks 3 --remote 3",
            "--remote 3: each group needs a rank of the 3",
        ),
        ("rules convert --to tuned --most-ranks 20000", "20000 is not from 1 to 16384"),
        ("rules convert --to native --most-ranks 2", "--most-ranks has no effect"),
        ("rules convert --to toml", "possible values: native, tuned, openmpi-json"),
        ("completions tcsh", "possible values: bash"),
    ] {
        let message = rustcoll(line).refused(2);
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn algorithms_are_verified() {
    let verified = rustcoll("verify --collective allreduce --algorithm ring --ranks 1..5").right();
    assert_eq!(verified, "1 algorithm on 1 to 5 ranks: 10 problems, all right\n");
    let mock_up =
        rustcoll("verify --collective allgather --algorithm allgather_as_alltoall --ranks 1..5").right();
    assert_eq!(mock_up, "1 algorithm on 1 to 5 ranks: 10 problems, all right\n");
    let all = rustcoll("verify --ranks 4").right();
    assert!(all.ends_with(" problems, all right\n"), "{all}");
}

#[test]
fn right_files_are_summed_up() {
    assert_eq!(
        rustcoll("rules check selection-rules/t3e-atlas.toml selection-rules/mpich-2005.toml").right(),
        "selection-rules/t3e-atlas.toml: 7 rules (allreduce 7)\n\
         selection-rules/mpich-2005.toml: 20 rules (allgather 3, allreduce 3, alltoall 3, bcast 4, reduce 4, reduce_scatter 3)\n"
    );
    let read = rustcoll_reading("rules check -", "priority = 70\n[[bcast]]\nalgorithm = \"chain\"\n").right();
    assert_eq!(read, "the standard input: priority 70, 1 rule (bcast 1)\n");
    let noted = rustcoll_reading("rules check -", "1\n7 # bcast\n1\n8 # ranks\n1\n0 4 0 0\n").right();
    assert_eq!(
        noted,
        "the standard input:6:3: note: there is no `split_binary_tree` here: bcast leaves these calls to Open MPI\n\
         the standard input: 1 rule (bcast 1)\n"
    );
}

#[test]
fn faults_are_printed_one_in_a_line() {
    let faulty = "[[bcast]]\nalgorithm = \"ring\"\n[[bcas]]\nalgorithm = \"chain\"\n";
    assert_eq!(
        rustcoll_reading("rules check selection-rules/t3e-atlas.toml -", faulty).wrong(),
        "selection-rules/t3e-atlas.toml: 7 rules (allreduce 7)\n\
         the standard input:2:14: unknown bcast algorithm `ring`; the nearest known one is `bine`\n\
         the standard input:3:3: unknown collective `bcas`; the nearest known one is `bcast`\n"
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder("unreadable");
    let file = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        path
    };
    for (path, expected) in [
        (folder.join("missing.toml"), "cannot be read: No such file or directory"),
        (folder.clone(), "this is a directory"),
        (file("empty.toml", b""), "there are no rules"),
        (file("binary.toml", b"\x7fELF\xff\0\0"), "this is not text"),
        (file("long.toml", &vec![b'#'; 2 << 20]), "this is longer than 1048576 bytes"),
        ("/dev/null".into(), "this is no regular file"),
    ] {
        let path = path.display();
        let fault = rustcoll(&format!("rules check {path}")).wrong();
        assert!(fault.starts_with(&path.to_string()) && fault.contains(expected), "{path}: {fault}");
        assert_eq!(fault.lines().count(), 1);
        let explain = format!("rules explain {path} --collective bcast --ranks 3 --bytes 3");
        assert!(rustcoll(&explain).refused(1).contains(expected));
    }
    let endless = rustcoll_reading("rules check -", &"#".repeat(2 << 20)).wrong();
    assert_eq!(endless, "the standard input: this is longer than 1048576 bytes\n");
}

#[test]
fn the_rule_for_binary_blocks_on_the_t3e_is_explained() {
    let explain = "rules explain selection-rules/t3e-atlas.toml --collective allreduce";
    let long = rustcoll(&format!("{explain} --ranks 100 --bytes 1MiB")).right();
    assert_eq!(
        long,
        "selection-rules/t3e-atlas.toml:6:1: recursive_doubling: bytes=..32 is not met: 1048576\n\
         selection-rules/t3e-atlas.toml:11:1: below: bytes=..1024 is not met: 1048576\n\
         selection-rules/t3e-atlas.toml:16:1: reduce_bcast: bytes=..1024 is not met: 1048576\n\
         selection-rules/t3e-atlas.toml:21:1: rabenseifner: power_of_two=true is not met: false\n\
         selection-rules/t3e-atlas.toml:28:1: binary_blocks: matches\n\
         binary_blocks serves it\n"
    );
    let short = rustcoll(&format!("{explain} --ranks 33 --bytes 16KiB")).right();
    assert!(short.contains(
        "binary_blocks: when=\"delta_expo_max < log2(bytes)/2 - 2.5\" is not met: bytes = 16384, delta_expo_max = 5\n"
    ));
    assert_eq!(last_line(&short), "rabenseifner serves it");
}

#[test]
fn later_files_come_first_and_the_default_rules_last() {
    let folder = folder("order");
    let file = |name: &str, rule: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("[[bcast]]\n{rule}\n")).unwrap();
        path.display().to_string()
    };
    let first = file("first.toml", "algorithm = \"binomial\"\nsegment = \"64KiB\"");
    let second = file("second.toml", "ranks = 8\nalgorithm = \"chain\"");
    let third = file("third.toml", "nodes = \"2..\"\nalgorithm = \"below\"");
    let explain = |files: &str, options: &str| {
        rustcoll(&format!("rules explain {files} --collective bcast --bytes 1KiB {options}")).right()
    };
    let all = format!("{first} {second} {third}");
    assert_eq!(
        explain(&all, "--ranks 9"),
        format!(
            "{third}:1:1: below: nodes=2.. is not met: not known\n{second}:1:1: chain: ranks=8 is not met: 9\n\
             {first}:1:1: binomial: matches\nbinomial, segment 65536 serves it\n"
        )
    );
    assert_eq!(last_line(&explain(&all, "--ranks 8")), "chain serves it");
    assert_eq!(last_line(&explain(&all, "--ranks 8 --nodes 2")), "the component below serves it");
    let built_in = explain(&second, "--ranks 9");
    assert!(built_in.contains("\ndefault:"), "{built_in}");
    let between = rustcoll("rules explain --collective bcast --ranks 8 --remote 3").right();
    assert_eq!(last_line(&between), "inter_linear serves it");
    // The user may say that they go by TCP, though nothing is known of the nodes of two groups.
    let line = "rules explain --collective bcast --ranks 8 --remote 3 --tcp --line tcp->below";
    assert_eq!(last_line(&rustcoll(line).right()), "the component below serves it");
}

#[test]
fn what_serves_a_call_on_one_node_is_explained() {
    let explain = |options: &str| {
        let line = "rules explain --collective allreduce --ranks 4 --bytes 8 --nodes 1";
        rustcoll(&format!("{line} {options}")).right()
    };
    assert_eq!(last_line(&explain("")), "shared_flat serves it");
    let operator = explain("--predefined false");
    let expected = "shared_flat: cannot serve it: the operator is not one of MPI's own";
    assert!(operator.contains(expected), "{operator}");
    let not_blocking = explain("--no-shared-memory");
    let expected = "shared_flat: cannot serve it: the ranks of a node share no memory for it";
    assert!(not_blocking.contains(expected), "{not_blocking}");
    assert_eq!(last_line(&not_blocking), last_line(&operator));
    let all_here = explain("--line ranks_per_node=4->ring");
    assert_eq!(last_line(&all_here), "ring serves it");
    let groups =
        rustcoll("rules explain --collective bcast --ranks 4 --remote 2 --no-shared-memory").refused(2);
    let expected = "--no-shared-memory has no effect on the algorithm of bcast between two groups";
    assert!(groups.contains(expected), "{groups}");
    let scatter = "rules explain --collective scatter --ranks 4 --bytes 1MiB --nodes 1";
    assert_eq!(last_line(&rustcoll(scatter).right()), "single_copy serves it");
    let twice = rustcoll(&format!("{scatter} --no-single-copy")).right();
    let expected =
        "single_copy: cannot serve it: the ranks of a node cannot copy from each other's own memory";
    assert!(twice.contains(expected), "{twice}");
    assert_eq!(last_line(&twice), "linear serves it");
}

#[test]
fn rules_in_a_line_come_before_files() {
    let explain =
        "rules explain selection-rules/t3e-atlas.toml --collective allreduce --ranks 8 --bytes 1MiB";
    let lines = ["predefined->recursive_doubling;->linear", "predefined->reccursive_doubling"];
    let [right, wrong] = lines.map(|line| format!("{explain} --line {line}"));
    assert_eq!(
        rustcoll(&right).right(),
        "coll_rustcoll_allreduce_rules:1:1: recursive_doubling: matches\nrecursive_doubling serves it\n"
    );
    for (option, expected) in [
        ("--predefined true", "recursive_doubling serves it"),
        ("--predefined=true", "recursive_doubling serves it"),
        ("--predefined false", "linear serves it"),
    ] {
        assert_eq!(last_line(&rustcoll(&format!("{right} {option}")).right()), expected);
    }
    let refused = rustcoll(&format!("{right} --predefined yes")).refused(2);
    assert!(
        refused.contains("invalid value 'yes'") && refused.contains("[possible values: true, false]"),
        "{refused}"
    );
    assert!(rustcoll(&wrong).refused(1).contains("unknown allreduce algorithm `reccursive_doubling`"));
}

#[test]
fn explanations_are_given_to_programs_too() {
    let line = "rules explain - --collective alltoall --ranks 9 --bytes 64 --format json";
    let rules = "[[alltoall]]\nranks = \"..8\"\nalgorithm = \"below\"\n[[alltoall]]\nalgorithm = \"bruck\"\nradix = 3\n";
    let text = rustcoll_reading(line, rules).right();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rule = |line: usize, algorithm: &str, matches: bool, verdict: &str| {
        serde_json::json!({
            "file": "the standard input", "line": line, "column": 1,
            "algorithm": algorithm, "matches": matches, "verdict": verdict,
        })
    };
    let expected = serde_json::json!({
        "algorithm": "bruck",
        "parameters": { "radix": 3 },
        "rules": [rule(1, "below", false, "ranks=..8 is not met: 9"), rule(4, "bruck", true, "matches")],
    });
    assert_eq!(value, expected);
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    const COMMANDS: [&str; 6] = ["algorithms", "schedule", "verify", "rules", "completions", "man"];
    let page = rustcoll("man").right();
    for command in COMMANDS {
        assert!(page.contains(&format!("rustcoll\\-{command}(1)")), "{command}: {page}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = rustcoll(&format!("completions {shell}")).right();
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
        // The scripts of some shells lack the values of arguments.
        assert!(script.contains("allreduce") || ["elvish", "powershell"].contains(&shell), "{shell}");
    }
    let folder = folder("man").join("new");
    assert_eq!(rustcoll(&format!("man {}", folder.display())).right(), "");
    for page in ["rustcoll.1", "rustcoll-schedule.1", "rustcoll-rules-explain.1"] {
        assert!(folder.join(page).is_file(), "{page}");
    }
    let file = folder.join("rustcoll.1");
    assert!(rustcoll(&format!("man {}", file.display())).refused(1).starts_with("rustcoll: "));
}

#[test]
fn a_reader_who_has_seen_enough_does_no_harm() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rustcoll"))
        .args(["schedule", "alltoall", "spread_out", "--ranks", "2000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let result = child.wait_with_output().unwrap();
    assert_eq!((result.status.code(), result.stderr.len()), (Some(0), 0));
}

#[test]
fn two_files_are_compared() {
    let folder = folder("differences");
    let file = |name: &str, rules: &str| {
        let path = folder.join(name);
        fs::write(&path, rules).unwrap();
        path.display().to_string()
    };
    let bruck = "[[alltoall]]\nalgorithm = \"bruck\"\nradix = 2\n";
    let pairwise = "[[alltoall]]\nalgorithm = \"pairwise\"\n";
    let one = file("one.toml", &format!("{bruck}bytes = \"..1KiB\"\n{pairwise}"));
    let other = file("other.toml", &format!("{bruck}bytes = \"..2KiB\"\nranks = \"..6\"\n{pairwise}"));
    assert_eq!(
        rustcoll(&format!("rules diff {one} {other} --ranks 5..9")).wrong(),
        format!(
            "alltoall ranks=5..6 bytes=1025..2048: pairwise ({one}:5:1) | bruck, radix 2 ({other}:1:1)\n\
             alltoall ranks=7..9 bytes=0..1024: bruck, radix 2 ({one}:1:1) | pairwise ({other}:6:1)\n"
        )
    );
    assert_eq!(rustcoll(&format!("rules diff {one} {one} --ranks 5..9")).right(), "");
    let over_tcp = file("tcp.toml", "[[bcast]]\ngroups = 2\ntcp = true\nalgorithm = \"inter_leaders\"\n");
    let differences = rustcoll(&format!("rules diff {one} {over_tcp} --ranks 5..9")).wrong();
    let expected = "\nbcast ranks=5..9 groups=2 tcp=true: inter_linear (default";
    assert!(differences.contains(expected), "{differences}");
    assert_eq!(rustcoll("rules diff selection-rules/default.toml").right(), "");
    assert!(rustcoll(&format!("rules diff {one} missing.toml")).refused(1).contains("missing.toml"));
}

#[test]
fn what_open_mpi_passes_over_in_silence_is_reported() {
    let faulty = "1\n2 # allreduce\n1\n8 # ranks\n2\n1024 3 0 0\n65536 4 0 0\n";
    let report = rustcoll_reading("rules check -", faulty).wrong();
    assert!(report.starts_with("the standard input:6:1: "), "{report}");
    assert_eq!(report.lines().count(), 1);
}

#[test]
fn converted_rules_end_where_they_did() {
    let rule = "[[allreduce]]\nranks = \"2000..3000\"\nalgorithm = \"ring\"\n";
    let written = rustcoll_reading("rules convert - --to tuned", rule).right();
    let sizes: Vec<&str> = written.lines().filter(|line| line.ends_with(" # ranks")).collect();
    assert_eq!(sizes, ["1 # ranks", "2000 # ranks", "3001 # ranks"]);
    let cut = rustcoll_reading("rules convert - --to tuned --most-ranks 2500", rule);
    assert!(cut.errors.contains("for this rule set --most-ranks 3001"), "{}", cut.errors);
}

#[test]
fn converted_rules_decide_as_before() {
    let original = "selection-rules/mpich-2005.toml";
    let native = rustcoll(&format!("rules convert {original} --to native")).right();
    assert_eq!(rustcoll_reading(&format!("rules diff {original} - --ranks 1..40"), &native).right(), "");

    let line = "1 # collectives\n2 # allreduce\n1 # sizes\n8 # ranks\n2 # rules\n0 3 0 0\n65536 4 0 0\n";
    let folder = folder("converted");
    for (format, name) in [("tuned", "tuned.conf"), ("openmpi-json", "tuned.json"), ("native", "rules.toml")]
    {
        let path = folder.join(name).display().to_string();
        let most_ranks = if format == "native" { "" } else { "--most-ranks 9" };
        let convert = format!("rules convert - --to {format} {most_ranks} --output {path}");
        assert_eq!(rustcoll_reading(&convert, line).code, Some(0));
        let same = rustcoll_reading(&format!("rules diff {path} - --ranks 1..9"), line);
        assert_eq!(same.right(), "", "{format}");
    }
    assert!(folder.join("tuned.json").is_file());
}

#[test]
fn what_a_conversion_cannot_say_is_told() {
    let converted = rustcoll("rules convert selection-rules/t3e-atlas.toml --to tuned --most-ranks 40");
    assert_eq!(converted.code, Some(0));
    let expected = "selection-rules/t3e-atlas.toml:28:1: note: `binary_blocks` is not in Open MPI";
    assert!(converted.errors.contains(expected), "{}", converted.errors);
    let nothing =
        rustcoll_reading("rules convert - --to tuned", "[[allreduce]]\nalgorithm = \"circulant\"\n")
            .refused(1);
    assert!(nothing.ends_with("rustcoll: that format can say nothing of these rules\n"), "{nothing}");
    let into_nowhere = rustcoll("rules convert --to native -o missing/folder/rules.toml").refused(1);
    assert!(into_nowhere.contains("missing/folder/rules.toml: cannot be written: "));
}
