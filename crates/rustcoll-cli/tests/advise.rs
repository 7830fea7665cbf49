//! `rustcoll advise`, and `rustcoll tune --profile` up to the jobs.

mod common;

use common::{Run, folder, launcher, rustcoll, rustcoll_reading};
use rustcoll::algorithms::Collective;
use rustcoll::report::profile::{Late, Lateness, OverRanks, Profile, Row};
use rustcoll::report::{CallKind, Form, bytes_from};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const RANKS: u32 = 64;

/// Returns the profile of a job of 10 s on 64 ranks of two nodes, without calls.
fn job() -> Profile {
    let ranks = f64::from(RANKS);
    Profile {
        nodes: BTreeMap::from([(1, (0..RANKS / 2).collect()), (2, (RANKS / 2..RANKS).collect())]),
        seconds: OverRanks { sum: 10.0 * ranks, least: 10.0, most: 10.0 },
        rows: BTreeMap::new(),
    }
}

/// Adds calls that take `seconds` of each rank. In these it waits for the ranks in `late`, for the given seconds.
fn with(
    mut job: Profile,
    collective: Collective,
    bytes: usize,
    served: &str,
    seconds: f64,
    late: &[(u32, f64)],
) -> Profile {
    let ranks = f64::from(RANKS);
    let kind = CallKind {
        communicator: "MPI_COMM_WORLD".into(),
        size: RANKS as usize,
        remote: 0,
        collective,
        form: Form::Blocking,
        bytes_from: bytes_from(bytes),
        datatype: "MPI_DOUBLE".into(),
        operator: "MPI_SUM".into(),
        served: served.into(),
        decided: "my.toml:7".into(),
    };
    // The component looked at one call in a hundred.
    let late: BTreeMap<u32, Late> = late
        .iter()
        .map(|&(rank, waiting)| (rank, Late { calls: 5, waiting: waiting * ranks / 100.0, longest: 0.0 }))
        .collect();
    let waiting = late.values().map(|late| late.waiting).sum();
    let row = Row {
        ranks: 64,
        calls: 1000 * 64,
        bytes: (1000 * 64 * bytes) as u64,
        seconds: Some(OverRanks { sum: seconds * ranks, least: seconds, most: seconds }),
        lateness: Lateness { calls: 10, seconds: seconds * ranks / 100.0, waiting, late },
    };
    job.rows.insert(kind, row);
    job
}

fn advise(profile: &Profile, more: &str) -> String {
    rustcoll_reading(&format!("advise - {more}"), &profile.to_json()).right()
}

#[test]
fn the_time_is_split_and_a_late_rank_is_named() {
    let job = with(job(), Collective::Allreduce, 8, "shared_leaders", 4.0, &[(3, 3.8), (9, 0.1)]);
    let advice = advise(&job, "");
    for part in [
        "64 ranks on 2 nodes, 10.000 s",
        "blocking collectives take 40.0 % of that, 4.000 s of the mean rank:",
        "waiting for ranks that came late       3.900 s   97.5 %",
        "moving data                            0.100 s    2.5 %",
        "1. Ranks wait for others for 39.0 % of the time, which no algorithm changes. They wait for rank 3: 97 % of the waiting.",
    ] {
        assert!(advice.contains(part), "{part:?} is missing in:\n{advice}");
    }
    assert!(!advice.contains("  2. "), "{advice}");
}

#[test]
fn a_better_algorithm_is_named_with_its_rule() {
    let job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[(3, 0.1)]);
    let advice = advise(&job, "--machine summit --times-as-many 4");
    let expected = "--mca coll_rustcoll_allreduce_rules \"ranks=64 bytes=8..15 -> shared_leaders\"";
    assert!(advice.contains(expected), "{advice}");
    assert!(advice.contains("of the time of ring (my.toml:7) by the prediction for summit."), "{advice}");
    assert!(advice.contains(" The rule my.toml:7 is to blame: without it, "), "{advice}");
    assert!(advice.contains("On 256 ranks, if each makes the same calls, moving data takes "), "{advice}");
}

/// Makes all calls reductions by this operator.
fn with_operator(job: Profile, operator: &str) -> Profile {
    let changed = |kind| CallKind { operator: operator.into(), ..kind };
    Profile { rows: job.rows.into_iter().map(|(kind, row)| (changed(kind), row)).collect(), ..job }
}

#[test]
fn an_operator_of_the_program_gets_no_algorithm_that_needs_one_of_mpi() {
    let job = with(job(), Collective::Allreduce, 12, "reduce_bcast", 4.0, &[]);
    assert!(advise(&job, "--machine summit").contains("-> shared_leaders\""));
    let advice = advise(&with_operator(job, "user's"), "--machine summit");
    assert!(advice.contains("of the time of reduce_bcast"), "{advice}");
    assert!(!advice.contains("shared_leaders"), "{advice}");
}

#[test]
fn an_algorithm_without_a_price_is_not_compared() {
    let mut job = with(job(), Collective::Alltoall, 1 << 22, "single_copy", 4.0, &[]);
    job.nodes = BTreeMap::from([(1, (0..RANKS).collect())]);
    let advice = advise(&job, "");
    assert!(!advice.contains("of the time of single_copy"), "{advice}");
    assert!(advice.contains("rustcoll tune --profile FILE"), "{advice}");
}

/// Makes a folder as `rustcoll tune` leaves it: 64 ranks on 2 nodes, 12 bytes, and these nanoseconds in the survey and in five
/// finals.
fn measured(name: &str, times: &[(&str, &str, u64)], more: &str) -> PathBuf {
    measured_on(2, name, times, more)
}

fn measured_on(nodes: usize, name: &str, times: &[(&str, &str, u64)], more: &str) -> PathBuf {
    let folder = folder(name);
    let mut text = String::from("{\"format\":\"rustcoll tune 1\",\"machine\":\"\"}\n");
    let ranks_per_node = 64 / nodes;
    text += &format!(
        "{{\"job\":0,\"step\":{STEP},\"line\":\"job\",\"ranks\":64,\"nodes\":{nodes},\"ranks_per_node\":{ranks_per_node},\
         \"library\":\"\"}}\n"
    );
    for one in times {
        text += &line("survey", 0, *one);
        text += &in_final(*one);
    }
    fs::write(folder.join("measured.json"), text + more).unwrap();
    folder
}

/// Returns what five jobs of the final measured.
fn in_final(one: (&str, &str, u64)) -> String {
    (0..5).map(|round| line("final", round, one)).collect()
}

fn line(stage: &str, round: usize, (contestant, ran, time): (&str, &str, u64)) -> String {
    format!(
        "{{\"job\":0,\"step\":{{\"ranks\":64,\"stage\":\"{stage}\",\"round\":{round}}},\"line\":\"measurement\",\
         \"collective\":\"allreduce\",\"ranks\":64,\"bytes\":12,\"contestant\":\"{contestant}\",\"ran\":\"{ran}\",\"late\":0,\
         \"nanoseconds\":[{time},{time},{time},{time}]}}\n"
    )
}

/// The first step of a tuning on 64 ranks.
const STEP: &str = r#"{"ranks":64,"stage":"survey","round":0}"#;

const TIMES: [(&str, &str, u64); 4] = [
    ("rustcoll", "ring", 1000),
    ("rustcoll:bine", "bine", 200),
    ("rustcoll:recursive_multiplying:radix=4", "recursive_multiplying", 400),
    ("tuned:3", "", 100),
];

#[test]
fn what_was_measured_goes_before_predictions() {
    let job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[]);
    let folder = measured("advise_measured", &TIMES, "");
    let advice = advise(&job, &format!("--measured {}", folder.display()));
    let expected = format!(
        "bine takes 0.20 of the time of ring (my.toml:7) as {} measured with 12 bytes. That saves 3.200 s",
        folder.display()
    );
    assert!(advice.contains(&expected), "{advice}");
    assert!(advice.contains("bytes=8..15 -> bine\" ..."), "{advice}");
}

#[test]
fn who_was_fast_in_the_survey_alone_is_not_advised() {
    let job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[]);
    let all = [
        ("rustcoll", "ring", 100, 100),
        ("rustcoll:bine", "bine", 84, 99),
        ("rustcoll:circulant", "circulant", 85, 100),
        ("rustcoll:recursive_doubling", "recursive_doubling", 86, 101),
    ];
    let mut lines = line("survey", 0, ("rustcoll:rabenseifner", "rabenseifner", 87));
    for (contestant, ran, surveyed, time) in all {
        lines += &line("survey", 0, (contestant, ran, surveyed));
        lines += &in_final((contestant, ran, time));
    }
    let folder = measured("advise_lucky", &[], &lines);
    let advice = advise(&job, &format!("--measured {}", folder.display()));
    assert!(advice.contains("1. Nothing: no call has a better algorithm that is known"), "{advice}");
}

#[test]
fn before_the_final_a_prediction_counts() {
    let job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[]);
    for (name, time, expected) in [
        ("advise_no_final", 95, "1. Nothing: no call has a better algorithm that is known"),
        ("advise_interrupted", 20, " by the prediction for "),
    ] {
        let lines = line("survey", 0, ("rustcoll", "ring", 100))
            + &line("survey", 0, ("rustcoll:bine", "bine", time));
        let folder = measured(name, &[], &lines);
        let advice = advise(&job, &format!("--measured {}", folder.display()));
        assert!(advice.contains(expected), "{advice}");
    }
}

#[test]
fn what_was_measured_elsewhere_does_not_count() {
    let job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[]);
    let folder = measured_on(4, "advise_placement", &TIMES, "");
    let advice = advise(&job, &format!("--measured {}", folder.display()));
    assert!(!advice.contains(" measured with "), "{advice}");
    assert!(advice.contains("by the prediction for"), "{advice}");
}

#[test]
fn what_ran_has_the_price_of_its_window() {
    let advice_for = |window| {
        let ran = format!("linear_window, window {window}");
        advise(&with(job(), Collective::Alltoall, 8, &ran, 4.0, &[]), "")
    };
    let [narrow, wide] = [1, 63].map(|window| {
        let advice = advice_for(window);
        let (_, ratio) = advice.split_once(" takes ").unwrap_or_else(|| panic!("{advice}"));
        ratio.split(' ').next().unwrap().parse::<f64>().unwrap()
    });
    assert!(narrow < wide, "{narrow} and {wide}");
}

#[test]
fn what_gave_a_wrong_result_or_ended_a_job_is_not_the_best() {
    let job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[]);
    for (name, event) in [
        ("advise_wrong", r#""line":"fault","message":"wrong""#),
        ("advise_crashed", r#""line":"excluded","reason":"the job ended with code 139""#),
    ] {
        let who = r#""collective":"allreduce","bytes":8,"contestant":"rustcoll:bine""#;
        let line = format!("{{\"job\":2,\"step\":{STEP},{event},{who}}}\n");
        let folder = measured(name, &TIMES, &line);
        let advice = advise(&job, &format!("--measured {}", folder.display()));
        assert!(advice.contains("recursive_multiplying, radix 4 takes 0.40 of the time"), "{advice}");
        assert!(advice.contains("-> recursive_multiplying radix=4\" ..."), "{advice}");
    }
}

#[test]
fn where_the_best_ran_there_is_nothing_to_measure() {
    let job = with(job(), Collective::Allreduce, 12, "bine", 4.0, &[]);
    let folder = measured("advise_best", &TIMES, "");
    let advice = advise(&job, &format!("--measured {}", folder.display()));
    assert!(advice.contains("1. Nothing: no call has a better algorithm that is known"), "{advice}");
}

#[test]
fn a_page_shows_calls_and_late_ranks() {
    let job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[(3, 3.0), (40, 0.5)]);
    let folder = folder("advise_page");
    let file = folder.join("advice.html");
    let text = advise(&job, &format!("--html {} --times-as-many 2", file.display()));
    let page = fs::read_to_string(&file).unwrap();
    for part in [
        "64 ranks on 2 nodes, 10.000 s</h1>",
        "<td>allreduce</td><td>64</td><td>12 bytes</td><td>1000</td><td>4.000</td>",
        "<i class=\"waiting\" style=\"width: 87.50%\"></i><i class=\"moving\" style=\"width: 12.50%\"></i>",
        "<td>3</td><td class=\"number\">85.7 %</td>",
        "<td>32-63</td><td class=\"number\">14.3 %</td>",
        "On 128 ranks, ",
    ] {
        assert!(page.contains(part), "{part:?} is missing in:\n{page}");
    }
    let line = text.lines().find_map(|line| line.trim().strip_prefix("mpirun ")).unwrap();
    assert!(
        page.contains(&line.replace('"', "&quot;").replace("->", "-&gt;")),
        "{line:?} is missing in:\n{page}"
    );
    assert!(!page.contains("<script"), "{page}");
}

#[test]
fn no_rule_is_written_for_a_communicators_first_calls() {
    let mut job = with(job(), Collective::Allreduce, 12, "ring", 4.0, &[]);
    let first = |kind| CallKind { decided: "my.toml:7, no shared memory yet".into(), ..kind };
    job.rows = job.rows.into_iter().map(|(kind, row)| (first(kind), row)).collect();
    let advice = advise(&job, "");
    assert!(!advice.contains("_rules"), "{advice}");
}

#[test]
fn where_collectives_take_no_time_there_is_nothing_to_do() {
    let advice = advise(&with(job(), Collective::Allreduce, 12, "ring", 0.1, &[]), "");
    assert!(
        advice.contains("1. Nothing: blocking collectives take less than 2.0 % of the time."),
        "{advice}"
    );
}

#[test]
fn calls_without_a_prediction_are_to_be_measured() {
    let advice = advise(&with(job(), Collective::Alltoallv, 512, "linear_window", 4.0, &[]), "");
    assert!(advice.contains("rustcoll tune --profile FILE --output tuned"), "{advice}");
}

#[test]
fn what_is_no_profile_is_refused() {
    let refused = |line: &str, input: &str| rustcoll_reading(line, input).refused(1);
    assert_eq!(
        refused("advise -", "{}"),
        "rustcoll: the standard input: `rustcoll_profile` is missing: it is not a profile of rustcoll\n"
    );
    let empty = Profile::default().to_json();
    assert_eq!(
        refused("advise -", &empty),
        "rustcoll: the standard input: there are no ranks in this profile\n"
    );
    assert!(refused("advise nowhere.json", "").starts_with("rustcoll: nowhere.json: cannot be read"));
    let folder = folder("advise_no_tuning");
    let line = format!("advise - --measured {}", folder.display());
    let job = job().to_json();
    assert!(refused(&line, &job).contains("measured.json: cannot be read"));
    fs::write(folder.join("measured.json"), "{}\n").unwrap();
    assert!(refused(&line, &job).contains("measured.json: this is not what a tuning measured"));
    assert!(rustcoll("advise - --times-as-many 1").refused(2).contains("expected a number from 2 to 1024"));
}

fn tune(name: &str, profile: &Profile, more: &str) -> Run {
    let folder = folder(name);
    let file = folder.join("profile.json");
    fs::write(&file, profile.to_json()).unwrap();
    let (file, folder) = (file.display(), folder.display());
    rustcoll(&format!(
        "tune --profile {file} --output {folder}/out --launcher /bin/false --program /bin/true {more}"
    ))
}

#[test]
fn a_profile_says_what_is_tuned() {
    let job = with(job(), Collective::Allreduce, 10, "ring", 4.0, &[]);
    let job = with(job, Collective::Alltoallv, 640, "linear_window", 2.0, &[]);
    let job = with(job, Collective::Bcast, 1 << 20, "shared", 0.01, &[]);
    let run = tune("tune_profile", &job, "--launches 1");
    assert!(run.errors.starts_with("rustcoll: 64 ranks, survey: 2 cells\n"), "{}", run.errors);
}

#[test]
fn a_tuning_does_not_go_on_with_the_profile_of_another_placement() {
    let folder = folder("tune_placement");
    let started = r#"{"line":"job","ranks":64,"library":"Some MPI 1.0"}"#;
    let launcher = launcher(&folder, &[started.into()], "exit 1");
    let tune = |nodes: u32| {
        let mut job = with(job(), Collective::Allreduce, 10, "ring", 4.0, &[]);
        let of_node = RANKS / nodes;
        job.nodes =
            (0..nodes).map(|node| (node.into(), (node * of_node..(node + 1) * of_node).collect())).collect();
        let file = folder.join("profile.json");
        fs::write(&file, job.to_json()).unwrap();
        rustcoll(&format!(
            "tune --profile {} --output {}/out --launcher {} --program /bin/true",
            file.display(),
            folder.display(),
            launcher.display()
        ))
    };
    assert!(tune(2).errors.contains("2 jobs in a row measured nothing"));
    let told = tune(4).refused(1);
    assert!(told.contains("--ranks-per-host was `32`, and now it is `16`"), "{told}");
}

#[test]
fn a_profile_without_calls_cannot_be_tuned() {
    let expected =
        "no call of this profile can be measured: blocking collectives of 2 or more ranks of one group can";
    assert!(tune("tune_nothing", &job(), "").refused(1).contains(expected));
    let both = tune("tune_both", &job(), "--ranks 4").refused(2);
    assert!(both.contains("cannot be used with"), "{both}");
}
