//! Rules of the user: which one decides, and what happens to faulty ones. The program's allreduces differ in bytes.

mod common;

use common::{Job, compiled, mpirun, run};
use rustcoll::algorithms::Collective;
use rustcoll::atlas::{Atlas, Candidate, Sweep, derive, to_native};
use rustcoll::cost::Machine;
use rustcoll::selection::{Call, Rules, Verdict};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const RANKS: usize = 4;

const FILES: &str = "OMPI_MCA_coll_rustcoll_rules_file";
const SITE: &str = "OMPI_MCA_coll_rustcoll_site_rules_file";
const ALIAS: &str = "OMPI_MCA_coll_rustcoll_dynamic_rules_filename";
const LINE: &str = "OMPI_MCA_coll_rustcoll_allreduce_rules";
const FORCED: &str = "OMPI_MCA_coll_rustcoll_allreduce_algorithm";
const STRICT: &str = "OMPI_MCA_coll_rustcoll_rules_strict";
const PRIORITY: &str = "OMPI_MCA_coll_rustcoll_priority";
const COMPONENTS: &str = "OMPI_MCA_coll";
const RANKS_ON_NODE: &str = "RANKS_ON_NODE";

/// Bytes of the program's calls on MPI_COMM_WORLD.
mod bytes {
    pub const NOT_BLOCKING: usize = 40;
    pub const FIRST: usize = 8;
    pub const OWN_OPERATOR: usize = 12;
    pub const NOT_BLOCKING_AFTER_OTHERS: usize = 44;
}

/// Bytes of its calls on communicators with info keys, or made from such communicators.
mod made {
    pub const WITH_INFO: usize = 20;
    pub const COPY: usize = 24;
    pub const COPY_NOT_BLOCKING: usize = 28;
    pub const SPLIT_WITH_INFO: usize = 32;
    pub const INFO_SET_LATER: usize = 36;
}

/// Runs the program with an environment and info keys. The log has a line for each call.
fn run_with(environment: &[(&str, &str)], info: &[&str]) -> Job {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let mut command = mpirun(RANKS);
    command.env("OMPI_MCA_coll_rustcoll_verbose", "60").envs(environment.iter().copied());
    run(command.arg(PROGRAM.get_or_init(|| compiled("rules"))).args(info))
}

/// Like [`run_with`]; all results must be right.
fn right_with(environment: &[(&str, &str)], info: &[&str]) -> Job {
    let job = run_with(environment, info);
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    job
}

/// Returns the algorithm of rank 0's allreduces with so many bytes, and who decided. Both must be the same for all of
/// them.
fn decided(job: &Job, bytes: usize) -> (&str, &str) {
    decided_on(job, Collective::Allreduce, bytes)
}

/// The same of any collective.
fn decided_on(job: &Job, collective: Collective, bytes: usize) -> (&str, &str) {
    let collective = collective.name();
    let before = format!(": {collective} of {bytes} bytes by ");
    let lines = job.text.lines().filter(|line| line.contains("rank 0 of"));
    let mut found: Vec<&str> =
        lines.filter_map(|line| line.split_once(&before)).map(|(_, after)| after).collect();
    found.dedup();
    job.assert(
        found.len() == 1,
        &format!("one decision on {collective} of {bytes} bytes expected, not {found:?}"),
    );
    let (algorithm, decider) = found[0].split_once(" (").unwrap();
    (algorithm, decider.trim_end().strip_suffix(')').unwrap())
}

/// Returns the path of a file of these tests.
fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    fs::write(place(name), content).unwrap();
    place(name).display().to_string()
}

fn allreduce_by(algorithm: &str) -> String {
    format!("[[allreduce]]\nalgorithm = \"{algorithm}\"\n")
}

/// The default rules' choice for short allreduces of few ranks on one node.
const BY_DEFAULT: &str = "shared_flat";

/// Their choice with an operator of the user.
const BY_DEFAULT_WITH_OWN_OPERATOR: &str = "recursive_doubling";

#[test]
fn a_file_decides_before_the_default_rules() {
    let file = file("decides.toml", "[[allreduce]]\nbytes = \"..8\"\nalgorithm = \"linear\"\n");
    for parameter in [FILES, ALIAS] {
        let job = right_with(&[(parameter, &file)], &[]);
        assert_eq!(decided(&job, bytes::FIRST), ("linear", &*format!("{file}:1:1")));
        let (algorithm, origin) = decided(&job, bytes::OWN_OPERATOR);
        assert_eq!(algorithm, BY_DEFAULT_WITH_OWN_OPERATOR);
        assert!(origin.starts_with("default:"), "{origin}");
    }
}

#[test]
fn rules_derived_from_predictions_decide() {
    let candidates = Candidate::all(Collective::Allreduce, Sweep::Parameters);
    let machine = Machine::hockney(1e-5, 1e-9, 1e-10);
    let atlas =
        Atlas::new(candidates, &machine, vec![2, 3, 4, 5, 8], vec![8, 32, 1 << 20], f64::INFINITY, |_| {})
            .unwrap();
    let text = to_native(&derive(&atlas, 0.05, 1));
    let file = file("derived.toml", &text);
    let rules = Rules::parse(&file, &text).unwrap();
    let job = right_with(&[(FILES, &file), (STRICT, "on")], &[]);
    for bytes in [bytes::FIRST, bytes::NOT_BLOCKING] {
        let explained = rules.explain(&Call::new(Collective::Allreduce, RANKS, bytes));
        let deciding = explained.iter().find(|one| one.verdict == Verdict::Matches).unwrap();
        let algorithm = deciding.rule.choice.algorithm().unwrap().name;
        assert_eq!(decided(&job, bytes), (algorithm, &*deciding.rule.origin.to_string()));
    }
}

#[test]
fn later_files_go_before_earlier_ones() {
    let earlier = file("earlier.toml", allreduce_by("linear"));
    let later = file("later.toml", "[[allreduce]]\nbytes = 8\nalgorithm = \"ring\"\n");
    let job = right_with(&[(FILES, &format!("{earlier},{later}"))], &[]);
    assert_eq!(decided(&job, bytes::FIRST), ("ring", &*format!("{later}:1:1")));
    assert_eq!(decided(&job, bytes::OWN_OPERATOR), ("linear", &*format!("{earlier}:1:1")));
}

#[test]
fn lines_go_before_files_and_below_is_a_choice() {
    let file = file("before.toml", allreduce_by("linear"));
    let job = right_with(&[(FILES, &file), (LINE, "bytes=8 -> binary_blocks; bytes=12 -> below")], &[]);
    assert_eq!(decided(&job, bytes::FIRST), ("binary_blocks", "coll_rustcoll_allreduce_rules:1:1"));
    assert_eq!(
        decided(&job, bytes::OWN_OPERATOR),
        ("the component below", "coll_rustcoll_allreduce_rules:1:27")
    );
    assert_eq!(decided(&job, made::WITH_INFO), ("linear", &*format!("{file}:1:1")));
}

#[test]
fn forced_algorithms_go_before_lines() {
    let job = right_with(&[(FORCED, "binary_blocks"), (LINE, "-> linear")], &[]);
    assert_eq!(decided(&job, bytes::FIRST), ("binary_blocks", "forced"));
}

#[test]
fn info_keys_go_before_all_and_stay_where_they_were_given() {
    let job =
        right_with(&[(FORCED, "ring"), (LINE, "-> linear")], &["rustcoll_allreduce_algorithm=rabenseifner"]);
    for bytes in [made::WITH_INFO, made::SPLIT_WITH_INFO] {
        assert_eq!(decided(&job, bytes), ("rabenseifner", "forced by info key"));
    }
    // Open MPI 4.1 does not copy info keys to duplicates, and tells no component about keys that are set later.
    for bytes in [bytes::FIRST, made::COPY, made::COPY_NOT_BLOCKING, made::INFO_SET_LATER] {
        assert_eq!(decided(&job, bytes), ("ring", "forced"));
    }
}

#[test]
fn info_keys_may_be_rules() {
    let file = file("info.toml", allreduce_by("linear"));
    let info = [
        &*format!("rustcoll_rules={file}"),
        "rustcoll_allreduce_rules=bytes=20 -> recursive_multiplying radix=4",
    ];
    let environment = [(FORCED, "ring"), ("OMPI_MCA_coll_rustcoll_allreduce_radix", "3")];
    let job = right_with(&environment, &info);
    let expected = ("recursive_multiplying", "info key rustcoll_allreduce_rules:1:1");
    assert_eq!(decided(&job, made::WITH_INFO), expected);
    // The rule's parameters also override those of the job.
    job.assert_contains("allreduce by recursive_multiplying, radix 4");
    assert_eq!(decided(&job, made::SPLIT_WITH_INFO), ("linear", &*format!("{file}:1:1")));
}

#[test]
fn an_info_key_may_leave_the_choice_to_the_rules() {
    let job = right_with(&[(FORCED, "ring"), (LINE, "-> linear")], &["rustcoll_allreduce_algorithm=auto"]);
    assert_eq!(decided(&job, made::WITH_INFO), ("linear", "coll_rustcoll_allreduce_rules:1:1"));
    assert_eq!(decided(&job, bytes::FIRST), ("ring", "forced"));
}

#[test]
fn faulty_info_keys_are_left_out_or_end_the_job() {
    let info = ["rustcoll_allreduce_algorithm=rinq", "rustcoll_allreduce_rules=-> linear", "rustcoll_rule=x"];
    let faults = [
        "info key rustcoll_allreduce_algorithm: unknown allreduce algorithm `rinq`; the nearest known one is `ring`",
        "unknown info key `rustcoll_rule`; the nearest known one is `rustcoll_rules`",
    ];
    let job = right_with(&[], &info);
    for fault in faults {
        job.assert(job.count(&format!("left out: {fault}")) == 2, "two communicators, one report each");
    }
    assert_eq!(decided(&job, made::WITH_INFO).0, "linear");

    let job = run_with(&[(STRICT, "on")], &info);
    job.assert(!job.success, "the job went on");
    faults.iter().for_each(|fault| job.assert_contains(fault));
    assert_eq!(decided(&job, bytes::FIRST).0, BY_DEFAULT);
    job.assert(!job.text.contains("allreduce of 20 bytes"), "the communicator was made");
}

/// Returns a list of files that are no rule files, and the message about each.
fn unreadable() -> (String, Vec<String>) {
    let long = place("long.toml");
    File::create(&long).unwrap().set_len(100 << 20).unwrap();
    let pipe = place("pipe.toml");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let cases = [
        (file("empty.toml", ""), "there are no rules"),
        (file("binary.toml", b"\x7fELF\0\xff"), "this is not text"),
        (place("").display().to_string(), "this is a directory, not a file"),
        (long.display().to_string(), "this is longer than 1048576 bytes"),
        ("/nowhere/rules.toml".into(), "cannot be read: No such file or directory (os error 2)"),
        (pipe.display().to_string(), "this is no regular file"),
        ("/dev/zero".into(), "this is no regular file"),
    ];
    let names: Vec<&str> = cases.iter().map(|(name, _)| &**name).collect();
    (names.join(","), cases.iter().map(|(name, message)| format!("{name}: {message}")).collect())
}

const WARNING: &str = "is left out as a whole";
const END: &str = "rustcoll ends the job";

#[test]
fn files_that_are_none_are_left_out_or_end_the_job() {
    let (names, messages) = unreadable();
    let right = file("right.toml", allreduce_by("linear"));
    let names = format!("{right},{names}");
    let job = right_with(&[(FILES, &names)], &[]);
    messages.iter().for_each(|message| job.assert_contains(message));
    job.assert(job.count(WARNING) == 1, "one warning expected");
    assert_eq!(decided(&job, bytes::FIRST), ("linear", &*format!("{right}:1:1")));

    let job = run_with(&[(FILES, &names), (STRICT, "on")], &[]);
    job.assert(!job.success, "the job went on");
    messages.iter().for_each(|message| job.assert_contains(message));
    job.assert(job.count(END) == 1, "one message expected");
    job.assert(!job.text.contains("allreduce of"), "the program ran");
}

#[test]
fn all_faults_of_files_and_lines_are_told() {
    let faulty = file(
        "faulty.toml",
        "[[allreduce]]\nranks = 4\nalgorithm = \"rinq\"\n[[allredurce]]\nalgorithm = \"ring\"\n",
    );
    let environment = [(FILES, &*faulty), (LINE, "-> ring radix=3; -> linear")];
    let messages = [
        format!("{faulty}:3:14: unknown allreduce algorithm `rinq`; the nearest known one is `ring`"),
        format!("{faulty}:4:3: unknown collective `allredurce`; the nearest known one is `allreduce`"),
        "coll_rustcoll_allreduce_rules:1:9: `ring` takes no radix".into(),
    ];
    let job = right_with(&environment, &[]);
    messages.iter().for_each(|message| job.assert_contains(message));
    job.assert(job.count(WARNING) == 1, "one warning expected");
    assert!(decided(&job, bytes::FIRST).1.starts_with("default:"));

    let job = run_with(&[environment[0], environment[1], (STRICT, "on")], &[]);
    job.assert(!job.success && job.count(END) == 1, "the job went on");
    messages.iter().for_each(|message| job.assert_contains(message));
}

#[test]
fn a_job_prints_one_line_of_the_notes_on_its_rules() {
    for (messages, more) in
        [(1, ""), (2, "; `rustcoll rules check` shows another note"), (3, "shows 2 more notes")]
    {
        let sizes: String = (0..messages).map(|number| format!("{number} 4 0 0\n")).collect();
        let file = file(&format!("notes_{messages}.conf"), format!("1\n7 1 1 {messages}\n{sizes}"));
        let job = right_with(&[(FILES, &file)], &[]);
        job.assert(job.count("there is no `split_binary_tree` here") == 1, "one line expected");
        job.assert_contains(&format!("{file}:3:3: there is no `split_binary_tree` here"));
        job.assert_contains(more);
    }
}

#[test]
fn both_names_of_the_files_must_agree() {
    let [one, other] = ["one", "other"].map(|name| file(&format!("{name}.toml"), allreduce_by("linear")));
    let job = right_with(&[(FILES, &one), (ALIAS, &one)], &[]);
    assert_eq!(decided(&job, bytes::FIRST).0, "linear");
    let job = right_with(&[(FILES, &one), (ALIAS, &other)], &[]);
    job.assert_contains(&format!(
        "coll_rustcoll_rules_file and coll_rustcoll_dynamic_rules_filename mean the same, but are `{one}` and `{other}`"
    ));
    assert_eq!(decided(&job, bytes::FIRST).0, BY_DEFAULT);
}

#[test]
fn a_file_may_give_the_component_its_priority() {
    let rules = format!("priority = 70\n{}", allreduce_by("linear"));
    let (high, low) = (file("high.toml", &rules), file("low.toml", rules.replace("70", "5")));
    let serves = |environment: &[(&str, &str)]| {
        right_with(environment, &[]).text.contains("allreduce of 8 bytes by linear")
    };
    // None of these environments names the component.
    assert!(serves(&[(COMPONENTS, "^han"), (FILES, &high)]));
    assert!(!serves(&[(COMPONENTS, "^han"), (FILES, &low)]), "tuned goes before it");
    assert!(!serves(&[(COMPONENTS, "^han"), (FILES, &high), (PRIORITY, "5")]), "the parameter decides");
    // Named components have a higher priority by default.
    let named = "rustcoll,tuned,basic,libnbc,self,inter";
    assert!(!serves(&[(COMPONENTS, named), (FILES, &low)]), "the file decides");
    assert!(
        serves(&[(COMPONENTS, named), (FILES, &format!("{high},{low},{high}"))]),
        "the last file decides"
    );
}

#[test]
fn rules_of_a_site_decide_behind_those_of_the_user_and_before_the_default_ones() {
    let site = file("site.toml", "[[allreduce]]\nbytes = \"..12\"\nalgorithm = \"linear\"\n");
    let user = file("user.toml", "[[allreduce]]\nbytes = 8\nalgorithm = \"ring\"\n");
    let job = right_with(&[(SITE, &site), (FILES, &user)], &[]);
    assert_eq!(decided(&job, bytes::FIRST), ("ring", &*format!("{user}:1:1")));
    assert_eq!(decided(&job, bytes::OWN_OPERATOR), ("linear", &*format!("{site}:1:1")));
    assert!(decided(&job, made::WITH_INFO).1.starts_with("default:"));
}

#[test]
fn the_priority_of_a_site_holds_unless_the_user_gives_another() {
    let rules = |priority: &str| format!("{priority}{}", allreduce_by("linear"));
    let [high, low, none] =
        [("site_high", "priority = 70\n"), ("site_low", "priority = 5\n"), ("site_none", "")]
            .map(|(name, priority)| file(&format!("{name}.toml"), rules(priority)));
    let serves = |environment: &[(&str, &str)]| {
        let environment = [&[(COMPONENTS, "^han")], environment].concat();
        right_with(&environment, &[]).text.contains("allreduce of 8 bytes by linear")
    };
    assert!(serves(&[(SITE, &high)]));
    assert!(serves(&[(SITE, &high), (FILES, &none)]), "the user's file gives none");
    assert!(!serves(&[(SITE, &high), (FILES, &low)]), "tuned goes before it");
    assert!(!serves(&[(SITE, &high), (PRIORITY, "5")]), "the parameter decides");
}

#[test]
fn a_job_without_the_component_hears_of_rules_of_a_site_only_if_they_are_faulty() {
    let site = file("site_quiet.toml", allreduce_by("linear"));
    let job = right_with(&[(COMPONENTS, "^han"), (SITE, &site)], &[]);
    job.assert(!job.text.contains("rustcoll"), "the component spoke");
    let job = right_with(&[(COMPONENTS, "^han"), (SITE, "/nowhere/site.toml")], &[]);
    job.assert(job.count(WARNING) == 1, "one warning expected");
    job.assert_contains("/nowhere/site.toml: cannot be read");
    job.assert(job.count("gives rules to the collective component") == 0, "the user gives none");
}

#[test]
fn a_job_without_the_component_hears_of_faulty_rules_that_it_gives() {
    let job = right_with(&[(COMPONENTS, "^han"), (FILES, "/nowhere/rules.toml")], &[]);
    job.assert(job.count(WARNING) == 1, "one warning expected");
    let job = right_with(&[(COMPONENTS, "^han")], &[]);
    job.assert(!job.text.contains("rustcoll"), "the component spoke");
}

#[test]
fn a_job_without_the_component_hears_that_its_rules_are_not_used() {
    let warning = "gives rules to the collective component";
    let without = (COMPONENTS, "^han");
    let job = right_with(&[without, (LINE, "-> linear")], &[]);
    job.assert(job.count(warning) == 1, "one warning expected");
}

#[test]
fn a_job_that_sends_the_component_away_hears_nothing_of_its_rules() {
    for environment in [[(LINE, "-> linear"), (STRICT, "off")], [(FILES, "/nowhere"), (STRICT, "on")]] {
        let job = right_with(&[environment[0], environment[1], (PRIORITY, "off")], &[]);
        job.assert(!job.text.contains("rustcoll"), "the component spoke");
    }
}

#[test]
fn rules_may_ask_for_nodes() {
    let line = "nodes=2 ranks_per_node=2 -> rabenseifner; nodes=4 -> binary_blocks; -> linear";
    for (ranks_on_node, expected) in [("2", "rabenseifner"), ("1", "binary_blocks"), ("3", "linear")] {
        let job = right_with(&[(LINE, line), (RANKS_ON_NODE, ranks_on_node)], &[]);
        assert_eq!(decided(&job, bytes::FIRST).0, expected);
        assert_eq!(decided(&job, made::COPY).0, expected);
        // Non-blocking calls do not know the number of nodes, neither before nor after a blocking call.
        assert_eq!(decided(&job, bytes::NOT_BLOCKING).0, "linear");
        assert_eq!(decided(&job, bytes::NOT_BLOCKING_AFTER_OTHERS).0, "linear");
    }
}

#[test]
fn every_call_knows_whether_all_ranks_are_on_one_node() {
    let line = "nodes=1 ranks_per_node=4 -> ring; nodes=2.. -> rabenseifner; -> linear";
    for (ranks_on_node, expected) in [("4", "ring"), ("3", "rabenseifner"), ("1", "rabenseifner")] {
        let job = right_with(&[(LINE, line), (RANKS_ON_NODE, ranks_on_node)], &[]);
        for bytes in [bytes::FIRST, made::COPY, bytes::NOT_BLOCKING, bytes::NOT_BLOCKING_AFTER_OTHERS] {
            assert_eq!(decided(&job, bytes).0, expected);
        }
    }
}

/// Meanwhile Open MPI itself makes non-blocking reductions, at different times on different ranks.
#[test]
fn ranks_may_learn_their_nodes_while_a_communicator_is_duplicated() {
    let mut command = mpirun(2);
    let line = "when='nodes == 2' -> ring; -> linear";
    let job = run(command.env(LINE, line).arg(compiled("duplicating")));
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
}

#[test]
fn every_call_knows_whether_messages_between_nodes_go_by_tcp() {
    const TCP: &str = "OMPI_MCA_coll_rustcoll_tcp";
    for (transports, said, ranks_on_node, goes_by_tcp) in [
        ("self,vader,tcp", "auto", "2", true),
        ("self,vader,tcp", "auto", "4", false),
        ("self,vader,tcp", "off", "2", false),
        ("self,vader", "auto", "2", false),
        ("self,vader", "on", "2", true),
    ] {
        let given = [
            (LINE, "tcp -> ring; -> linear"),
            (RANKS_ON_NODE, ranks_on_node),
            ("OMPI_MCA_btl", transports),
            (TCP, said),
        ];
        let job = right_with(&given, &[]);
        for bytes in [bytes::FIRST, made::COPY, bytes::NOT_BLOCKING, bytes::NOT_BLOCKING_AFTER_OTHERS] {
            assert_eq!(decided(&job, bytes).0, if goes_by_tcp { "ring" } else { "linear" }, "{given:?}");
        }
    }
}

#[test]
fn a_communicator_s_own_rule_needs_nothing_of_the_job_s_rule() {
    let job = [
        (LINE, "-> shared_leaders"),
        (RANKS_ON_NODE, "2"),
        ("OMPI_MCA_coll_rustcoll_shared_memory_from", "1"),
    ];
    let job = right_with(&job, &["rustcoll_allreduce_rules=-> ring"]);
    assert_eq!(decided(&job, made::WITH_INFO).0, "ring");
}

#[test]
fn rules_may_ask_for_the_longest_block() {
    let line = "when='longest == bytes' -> circulant; -> ring";
    let mut command = mpirun(RANKS);
    command.env("OMPI_MCA_coll_rustcoll_verbose", "60");
    for collective in ["allgatherv", "reduce_scatter"] {
        command.env(format!("OMPI_MCA_coll_rustcoll_{collective}_rules"), line);
    }
    let job = run(command.arg(compiled("uneven")));
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    for collective in [Collective::Allgatherv, Collective::ReduceScatter] {
        assert_eq!(decided_on(&job, collective, 64).0, "ring");
        assert!(decided_on(&job, collective, 40).0.starts_with("circulant"));
    }
}

#[test]
fn rules_may_ask_for_operators_of_mpi() {
    let job = right_with(&[(LINE, "predefined -> rabenseifner; predefined=false -> linear")], &[]);
    assert_eq!(decided(&job, bytes::FIRST).0, "rabenseifner");
    assert_eq!(decided(&job, bytes::OWN_OPERATOR).0, "linear");
}
