//! `rustcoll tune` with a launcher that only pretends to start jobs. Its times depend on the call alone.

mod common;

use common::{Run, command, folder, rustcoll};
use rustcoll::algorithms::Collective;
use rustcoll::selection::Rules;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Pretends to be the measuring program on 13 ranks: `launcher PROGRAM OPTIONS HEATS`. Files in its folder change it:
/// `crash`, `crash_later`, `hang` and `late` name contestants that do so from 512 bytes on, `wrong` one at 512 bytes.
/// `interrupt` lists jobs that interrupt the command after some cells, `healthy` lists jobs without bad contestants.
/// `library` is a version, `ranks` another number of ranks, `tuned` the time of rule files.
const LAUNCHER: &str = r#"#!/bin/sh
PARENT=$PPID; export PARENT
FOLDER=$(dirname "$0")
echo "$@" >> "$FOLDER/asked"
exec awk '
function listed(file,   line) { line = ""; getline line < (folder "/" file); close(folder "/" file); return line }
function microseconds(name, bytes,   radix) {
    if (name == "rustcoll") return 1000 + bytes
    if (name ~ /^rustcoll@/) return tuned != "" ? tuned : 500 + bytes
    radix = 4; if (match(name, /radix=[0-9]+/)) radix = substr(name, RSTART + 6, RLENGTH - 6)
    if (name ~ /:knomial/) return 400 + bytes + 60 * (radix > 6 ? radix - 6 : 6 - radix)
    if (name ~ /:binomial/) return 600 + bytes
    if (name ~ /:pairwise/) return bytes == 512 ? 2000 : 500
    return 2000 + bytes
}
function is_bad(what, name, bytes) { return listed(what) == name && bytes >= 512 && !index(listed("healthy"), " " job " ") }
function cell(collective, bytes, names, count,   n, k, times, us) {
    at = "\"collective\":\"" collective "\",\"bytes\":" bytes ",\"contestant\":\""
    for (n = 1; n <= count; n++) {
        print "{\"line\":\"trying\"," at names[n] "\"}"; fflush()
        if (is_bad("crash", names[n], bytes)) { print "boom" > "/dev/stderr"; exit 7 }
        if (listed("wrong") == names[n] && bytes == 512) {
            print "{\"line\":\"fault\"," at names[n] "\",\"message\":\"wrong result\"}"; faults = 1
        }
        if (is_bad("hang", names[n], bytes)) { print "{\"line\":\"hung\"," at names[n] "\"}"; exit 3 }
    }
    for (n = 1; n <= count; n++) if (is_bad("crash_later", names[n], bytes)) { print "boom" > "/dev/stderr"; exit 7 }
    for (n = 1; n <= count; n++) {
        if (listed("wrong") == names[n] && bytes == 512) continue
        if (is_bad("late", names[n], bytes)) {
            print "{\"line\":\"fault\"," at names[n] "\",\"message\":\"late\",\"cause\":\"late\"}"; faults = 1; continue
        }
        us = microseconds(names[n], bytes); times = ""
        for (k = 0; k < 6; k++) times = times (k ? "," : "") (us * 1000 + k * 1000)
        print "{\"line\":\"measurement\",\"ranks\":" ranks "," at names[n] "\",\"ran\":\"algorithm\",\"late\":0,\"nanoseconds\":[" times "]}"
    }
    fflush()
    if (interrupts && ++cells == 2) { system("kill -INT " ENVIRON["PARENT"]); system("exec sleep 60 > /dev/null 2>&1"); exit 1 }
}
BEGIN {
    folder = ARGV[1]; ranks = 13; tuned = listed("tuned")
    system("echo job >> " folder "/jobs"); while ((getline line < (folder "/jobs")) > 0) job++
    interrupts = listed("interrupt") ~ (" " job " ")
    told = listed("ranks"); print "{\"line\":\"job\",\"ranks\":" (told != "" ? told : ranks) ",\"library\":\"Some MPI " listed("library") "\"}"
    for (i = 3; i < ARGC; i++) {
        if (ARGV[i] ~ /^--(estimate|fresh|hot)$/) continue
        if (ARGV[i] ~ /^--/) { i++; continue }
        slash = index(ARGV[i], "/"); colon = index(ARGV[i], ":")
        count = split(substr(ARGV[i], slash + 1), names, ","); sizes = split(substr(ARGV[i], colon + 1, slash - colon - 1), bytes, ",")
        collective = substr(ARGV[i], 1, colon - 1)
        print "{\"line\":\"reference\",\"collective\":\"" collective "\",\"seconds\":0.5,\"nanoseconds\":[1]}"
        for (s = 1; s <= sizes; s++) cell(collective, bytes[s], names, count)
    }
    exit faults
}' "$FOLDER" "$@"
"#;

struct Bench {
    folder: PathBuf,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let folder = folder(&format!("tune_{name}"));
        let launcher = folder.join("launcher");
        fs::write(&launcher, LAUNCHER).unwrap();
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        Bench { folder }
    }

    /// Writes a file that the launcher reads.
    fn with(self, file: &str, text: &str) -> Bench {
        self.set(file, text);
        self
    }

    fn set(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), format!("{text}\n")).unwrap();
    }

    fn tune(&self, more: &str) -> Run {
        self.tune_all("bcast", "8,512,4K", more)
    }

    fn tune_all(&self, collective: &str, bytes: &str, more: &str) -> Run {
        rustcoll(&self.line(collective, bytes, more))
    }

    fn line(&self, collective: &str, bytes: &str, more: &str) -> String {
        let at = self.folder.display();
        format!(
            "tune {collective} --bytes {bytes} --ranks 13 --ranks-per-host 1 --launches 3 --hopeless 100 --program /bin/true \
             --output {at}/out --launcher {at}/launcher {more}"
        )
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join("out").join(file)).unwrap()
    }

    /// Returns the rules without the launcher's folder.
    fn rules(&self) -> String {
        self.read("rules.toml").replace(&self.folder.display().to_string(), "")
    }

    fn jobs(&self) -> usize {
        fs::read_to_string(self.folder.join("jobs")).unwrap().lines().count()
    }
}

/// Returns the rules of a run that nothing disturbs.
fn undisturbed(name: &str) -> String {
    let bench = Bench::new(name);
    assert_eq!(bench.tune("").code, Some(0));
    bench.rules()
}

#[test]
fn what_is_faster_than_the_default_is_found_and_written_as_rules() {
    let bench = Bench::new("right");
    let run = bench.tune("");
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let rows: Vec<Vec<&str>> = run.output.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1][..4], ["bcast", "13", "8", "algorithm"], "{}", run.output);
    // The best radix is found by steps.
    assert!(rows[1].contains(&"knomial:radix=6"), "{}", run.output);
    assert!(run.output.contains("3 of 3 cells have something faster than the default"), "{}", run.output);
    let rules = bench.read("rules.toml");
    assert!(rules.contains("knomial") && rules.contains("radix = 6"), "{rules}");
    assert!(
        rustcoll(&format!("rules check {}/out/rules.toml", bench.folder.display())).right().contains("rule")
    );
    for file in ["tuned.conf", "open-mpi.json"] {
        assert!(!bench.read(file).is_empty(), "{file}");
    }
    // Without a terminal, each stage prints a line.
    assert!(run.errors.starts_with("rustcoll: 13 ranks, survey: 3 cells\n"), "{}", run.errors);
    assert!(run.errors.contains("rustcoll: 13 ranks, final 3: "), "{}", run.errors);
}

#[test]
fn every_single_time_is_kept() {
    let bench = Bench::new("kept");
    bench.tune("");
    let json = bench.read("measured.json");
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["format"], "rustcoll tune 1");
    assert_eq!(lines[0]["library"], "Some MPI ");
    assert_eq!(lines[0]["options"]["launches"], "3");
    assert_eq!(lines[1]["step"]["stage"], "survey");
    let measured: Vec<_> = lines.iter().filter(|line| line["line"] == "measurement").collect();
    let csv = bench.read("measured.csv");
    assert_eq!(csv.lines().count(), 1 + 6 * measured.len());
    assert!(
        csv.starts_with("collective,ranks,bytes,contestant,stage,launch,ran,repetition,seconds\n"),
        "{csv}"
    );
    assert!(csv.contains("\nbcast,13,8,rustcoll,survey,0,algorithm,0,0.001008000\n"), "{csv}");
    // The same command has nothing left to measure.
    let jobs = bench.jobs();
    let again = bench.tune("");
    assert_eq!((again.code, bench.jobs()), (Some(0), jobs));
    assert_eq!(bench.rules(), undisturbed("kept_again"));
    assert_eq!(bench.read("measured.csv"), csv);
}

#[test]
fn an_interrupted_tuning_goes_on_to_the_same_rules() {
    let bench = Bench::new("interrupted").with("interrupt", " 1 4 ");
    for job in [1, 4] {
        let run = bench.tune("");
        assert_eq!((run.code, bench.jobs()), (Some(130), job), "{}", run.errors);
        assert!(run.errors.contains("the same command goes on from there"), "{}", run.errors);
        // The command cuts off an incomplete last line.
        let path = bench.folder.join("out/measured.json");
        let torn = fs::read_to_string(&path).unwrap() + "{\"job\":9,\"ran";
        fs::write(&path, torn).unwrap();
    }
    assert_eq!(bench.tune("").code, Some(0));
    assert_eq!(bench.rules(), undisturbed("not_interrupted"));
    assert!(!bench.read("measured.json").contains("{\"job\":9,\"ran{"));
}

#[test]
fn who_crashes_hangs_or_is_wrong_is_left_out() {
    let best = "rustcoll:knomial:radix=6";
    for (what, reason) in [
        ("crash", "launcher failed (exit status: 7)"),
        ("crash_later", "launcher failed (exit status: 7)"),
        ("hang", "it did not end within 30 s"),
        ("wrong", "bcast on 13 ranks, 512 bytes: rustcoll:knomial:radix=6: wrong result"),
    ] {
        let bench = Bench::new(what).with(what, best);
        let run = bench.tune("");
        assert_eq!(run.code, Some(0), "{what}: {}", run.errors);
        assert!(run.errors.contains(reason), "{what}: {}", run.errors);
        let row =
            run.output.lines().find(|line| line.starts_with("bcast") && line.contains(" 512 ")).unwrap();
        assert!(!row.contains("radix=6") && row.contains("knomial"), "{what}: {row}");
        let first = run.output.lines().nth(1).unwrap();
        assert!(first.contains("radix=6"), "{what}: {first}");
        // A second run of the command does not call it again.
        let jobs = bench.jobs();
        assert_eq!((bench.tune("").code, bench.jobs()), (Some(0), jobs), "{what}");
    }
}

#[test]
fn a_default_that_crashes_is_told_of() {
    let bench = Bench::new("default").with("crash", "rustcoll");
    let run = bench.tune("");
    assert_eq!(run.code, Some(1), "{}", run.errors);
    for bytes in ["512 bytes", "4KiB"] {
        let expected = format!(
            "bcast, 13 ranks, {bytes}: the default could not be measured: the job ended when it was called: {}/launcher failed (exit status: 7)",
            bench.folder.display()
        );
        assert!(run.errors.contains(&expected), "{}", run.errors);
    }
    assert!(run.output.contains("\nbcast") && !run.output.contains(" 512 "), "{}", run.output);
}

#[test]
fn a_job_that_ends_for_another_reason_leaves_the_default_where_it_is() {
    let bench = Bench::new("outside").with("crash", "rustcoll").with("healthy", " 2 3 4 5 6 7 8 9 10 11 12 ");
    let run = bench.tune("");
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(!run.errors.contains("left out"), "{}", run.errors);
    assert_eq!(bench.rules(), undisturbed("no_outside"));
}

#[test]
fn who_was_late_is_called_once_more() {
    let best = "rustcoll:knomial";
    let once = Bench::new("late_once").with("late", best).with("healthy", " 2 3 4 5 6 7 8 9 10 11 12 ");
    assert_eq!(once.tune("").code, Some(0));
    assert_eq!(once.rules(), undisturbed("not_late"));
    let jobs = once.jobs();
    let always = Bench::new("late_always").with("late", best);
    assert_eq!(always.tune("").code, Some(0));
    assert_eq!(always.jobs(), jobs);
    assert_eq!((always.tune("").code, always.jobs()), (Some(0), jobs));
    // A default that is late in every repetition is reported.
    let run = Bench::new("late_default").with("late", "rustcoll").tune("");
    assert_eq!(run.code, Some(1), "{}", run.errors);
    let expected = "512 bytes: the default could not be measured: ranks were late in every repetition";
    assert!(run.errors.contains(expected), "{}", run.errors);
}

#[test]
fn a_default_that_misses_one_job_of_the_final_decides_nothing_by_that() {
    let tune = |bench: &Bench| {
        rustcoll(&bench.line("bcast", "8,512,4K", "").replace("--launches 3", "--launches 5"))
    };
    let undisturbed = Bench::new("no_final_missed");
    assert_eq!(tune(&undisturbed).code, Some(0));
    // Ranks are late in the first job of the final, and in its only repetition.
    let first = undisturbed.jobs() - 4;
    let healthy: String =
        (1..99).filter(|job| ![first, first + 1].contains(job)).map(|job| format!(" {job} ")).collect();
    let bench = Bench::new("final_missed").with("late", "rustcoll").with("healthy", &healthy);
    let run = tune(&bench);
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert_eq!(bench.jobs(), undisturbed.jobs() + 1);
    for bytes in ["512 bytes", "4KiB"] {
        let expected = format!(
            "bcast, 13 ranks, {bytes}: the default could not be measured in 1 of 5 jobs of the final: ranks were late in every repetition"
        );
        assert!(run.errors.contains(&expected), "{}", run.errors);
    }
    assert!(run.output.contains("3 of 3 cells have something faster than the default"), "{}", run.output);
}

#[test]
fn what_another_one_is_writing_is_not_moved_aside() {
    let bench = Bench::new("locked");
    assert_eq!(bench.tune("").code, Some(0));
    let path = bench.folder.join("out/measured.json");
    let file = fs::File::open(&path).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let told = bench.tune("--from-scratch").refused(1);
    assert!(told.contains("measured.json: another rustcoll is writing there"), "{told}");
    assert!(path.exists() && !bench.folder.join("out/measured-1.json").exists());
}

#[test]
fn what_could_not_be_verified_does_not_pass() {
    let bench = Bench::new("unverified");
    bench.set("wrong", &format!("rustcoll@{}/out/rules.toml", bench.folder.display()));
    let run = bench.tune("--verify");
    assert_eq!(run.code, Some(1), "{}", run.errors);
    assert!(
        run.errors.contains(
            "bcast, 13 ranks, 512 bytes: what the rule file gains could not be verified: wrong result"
        ),
        "{}",
        run.errors
    );
    assert!(run.output.contains(" in 2 cells"), "{}", run.output);
}

#[test]
fn the_reason_is_how_the_job_ended_whatever_went_wrong_before() {
    let bench = Bench::new("both").with("wrong", "rustcoll:knomial").with("crash", "rustcoll:binary");
    let run = bench.tune("");
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(
        run.errors.contains(&format!(
            "rustcoll:binary is left out: the job ended when it was called: {}/launcher failed (exit status: 7)",
            bench.folder.display()
        )),
        "{}",
        run.errors
    );
    assert!(bench.read("report.html").contains("wrong result"));
}

#[test]
fn sizes_that_rules_cannot_tell_apart_have_a_file_without_rules() {
    let bench = Bench::new("alltoallv").with("tuned", "500");
    let run = bench.tune_all("alltoallv", "8,512,4K", "--verify");
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(run.output.contains("There is nothing to write rules for"), "{}", run.output);
    let rules = Rules::parse("rules.toml", &bench.read("rules.toml")).unwrap();
    assert!(Collective::ALL.into_iter().all(|collective| rules.of(collective).is_empty()));
    assert!(!bench.folder.join("out/tuned.conf").exists());
}

#[test]
fn profiles_of_before_are_removed() {
    let bench = Bench::new("profiles");
    fs::create_dir_all(bench.folder.join("out/profiles")).unwrap();
    for file in ["old.prf", "notes.txt"] {
        fs::write(bench.folder.join("out/profiles").join(file), "MPI_Bcast\n").unwrap();
    }
    assert_eq!(bench.tune("--gain 90%").code, Some(0));
    assert!(!bench.folder.join("out/profiles/old.prf").exists());
    assert!(bench.folder.join("out/profiles/notes.txt").exists());
}

#[test]
fn what_a_rule_file_gains_is_verified() {
    let bench = Bench::new("verified");
    let run = bench.tune("--verify");
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(run.output.contains("verified: geometric-mean gain "), "{}", run.output);
    assert!(bench.read("measured.csv").contains("/out/rules.toml,verification,"));
    // Without rules there is nothing to verify.
    let same = Bench::new("verified_same");
    let run = same.tune("--verify --gain 90%");
    assert_eq!(
        (run.code, run.output.contains("nothing to write rules for")),
        (Some(0), true),
        "{}",
        run.errors
    );
    assert!(!run.output.contains("in the same jobs"), "{}", run.output);
    // If the data exist, the command measures the verification alone.
    let slow = Bench::new("verified_slow").with("tuned", "4000");
    assert_eq!(slow.tune("").code, Some(0));
    let jobs = slow.jobs();
    let run = slow.tune("--verify");
    assert_eq!((run.code, slow.jobs()), (Some(1), jobs + 3), "{}", run.errors);
    assert!(run.output.contains("worst cell: bcast, 13 ranks, 8 bytes: "), "{}", run.output);
}

#[test]
fn measurements_from_elsewhere_are_not_mixed_in() {
    let bench = Bench::new("elsewhere");
    assert_eq!(bench.tune("").code, Some(0));
    let refused = |run: Run, expected: &str| {
        let told = run.refused(1);
        assert!(told.contains(expected) && told.contains("--from-scratch"), "{told}");
    };
    refused(bench.tune("--gain 20%"), "--gain was `10%`, and now it is `20%`");
    let path = bench.folder.join("out/measured.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(" processors", " other processors", 1)).unwrap();
    refused(bench.tune(""), " other processors");
    for foreign in ["something else\n", "something else", "one\ntwo"] {
        fs::write(&path, foreign).unwrap();
        refused(bench.tune(""), "measured.json: this is not what a tuning measured");
        assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
    }
    let table = bench.folder.join("out/measured.csv");
    let (own, foreign) = (fs::read_to_string(&table).unwrap(), "time,place\n1,2\n");
    fs::write(&path, &text).unwrap();
    fs::write(&table, foreign).unwrap();
    refused(bench.tune(""), "measured.csv: this is not what a tuning measured");
    assert_eq!(fs::read_to_string(&table).unwrap(), foreign);
    fs::write(&table, own).unwrap();
    // Half a tuning, and then another library.
    let half: String = text.split_inclusive('\n').take(4).collect();
    fs::write(&path, &half).unwrap();
    bench.set("library", "2");
    refused(bench.tune(""), "Some MPI 2");
    assert_eq!(fs::read_to_string(&path).unwrap(), half);
    assert_eq!(bench.tune("--from-scratch").code, Some(0));
    assert_eq!(bench.read("measured-1.json"), half);
}

#[test]
fn measurements_of_another_build_or_environment_are_not_mixed_in() {
    let bench = Bench::new("build");
    let at = bench.folder.display();
    bench.set("mca_coll_rustcoll.so", "old");
    bench.set("openmpi-plugins", &at.to_string());
    let more = format!("--component {at}");
    assert_eq!(bench.tune(&more).code, Some(0));
    let mut elsewhere = command(&bench.line("bcast", "8,512,4K", &more));
    let told = elsewhere.env("OMPI_MCA_btl", "tcp,self").output().unwrap().stderr;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("OMPI_MCA_btl was ``, and now it is `tcp,self`"), "{told}");
    bench.set("mca_coll_rustcoll.so", "new");
    let told = bench.tune(&more).refused(1);
    assert!(told.contains("/mca_coll_rustcoll.so was `digest ") && told.contains("--from-scratch"), "{told}");
    bench.set("mca_coll_rustcoll.so", "old");
    assert_eq!(bench.tune(&more).code, Some(0));
}

#[test]
fn a_tuning_goes_on_at_another_host_with_the_same_processors() {
    let bench = Bench::new("host");
    assert_eq!(bench.tune("").code, Some(0));
    let (jobs, text) = (bench.jobs(), bench.read("measured.json"));
    let elsewhere = text.replacen("\"machine\":\"", "\"machine\":\"other-", 1);
    fs::write(bench.folder.join("out/measured.json"), &elsewhere).unwrap();
    let run = bench.tune("");
    assert_eq!((run.code, bench.jobs()), (Some(0), jobs), "{}", run.errors);
    // The host on which the tuning began is noted.
    assert_eq!(bench.read("measured.json"), elsewhere);
    assert!(bench.rules().contains("other-"), "{}", bench.rules());
}

#[test]
fn a_full_disk_is_told_of() {
    let bench = Bench::new("full");
    fs::create_dir(bench.folder.join("out")).unwrap();
    std::os::unix::fs::symlink("/dev/full", bench.folder.join("out/measured.json")).unwrap();
    let told = bench.tune("").refused(1);
    assert!(told.contains("out/measured.json: cannot be written: No space left on device"), "{told}");
}

#[test]
fn jobs_that_cannot_be_measured_by_end_the_tuning() {
    let few = Bench::new("few").with("ranks", "4");
    assert!(few.tune("").errors.contains("the job has 4 ranks, not the 13 asked for"));
    let at = folder("tune_missing");
    let missing = format!("tune bcast --program /bin/true --output {}/out --launcher ", at.display());
    let told = rustcoll(&(missing.clone() + "/nowhere/mpirun")).refused(1);
    assert!(told.contains("/nowhere/mpirun cannot be started: No such file"), "{told}");
    let told = rustcoll(&(missing + "/bin/false")).refused(1);
    assert!(told.contains("2 jobs in a row measured nothing; the last one:\n/bin/false failed"), "{told}");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (line, expected) in [
        ("ibcast", "only the blocking form is known here, `bcast`"),
        ("--ranks 1", "1 rank cannot call a collective"),
        ("--ranks 6 --ranks-per-host 4", "6 ranks do not fill hosts of 4 each"),
        ("--bytes 8..", "the range `8..` has no last size, as 8..1M has"),
        ("--bytes 9", "9 bytes are no multiple of 4"),
        ("--gain 100%", "`100%` cannot be saved of a time"),
        ("--hopeless 0.5", "`0.5` is less than 1, the least prediction itself"),
        ("--time 0", "`0` is not more than 0"),
        ("--verify --output a,b", "with neither `:` nor `,`"),
        ("--limit 120", "--limit 120: a job without results is ended after 120 s (--patience)"),
        ("--significance 2", "a probability above 0 and up to 1 is expected, as 0.05"),
    ] {
        let output = if line.contains("--output") { "" } else { "--output /tmp/never" };
        let told = rustcoll(&format!("tune bcast --program /bin/true {output} {line}")).refused(2);
        assert!(told.contains(expected), "{line}: {told}");
    }
}
