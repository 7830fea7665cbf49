//! Parameters from all places: the environment, and the files from which Open MPI reads them.

mod common;

use common::{Job, SHARED_MEMORY_FROM, compiled, mpirun, root, run, user_program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Environment of a job that does not name the component.
const UNNAMED: (&str, &str) = ("OMPI_MCA_coll", "^han");

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns a job with a parameter file of the user, and the file's path.
fn with_file(name: &str, content: &str, environment: &[(&str, &str)]) -> (Command, String) {
    let home = place(name);
    let file = home.join(".openmpi/mca-params.conf");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, content).unwrap();
    let mut command = mpirun(2);
    command.env("HOME", home).envs(environment.iter().copied());
    (command, file.display().to_string())
}

/// Runs such a job.
fn run_with_file(name: &str, content: &str, environment: &[(&str, &str)]) -> (Job, String) {
    let (mut command, file) = with_file(name, content, environment);
    (run(command.arg(user_program())), file)
}

fn assert_refused(job: &Job, said: &[&str]) {
    job.assert(!job.success, "the job went on");
    job.assert(job.count("wrong") == 0, "the program must not run");
    said.iter().for_each(|said| job.assert_contains(said));
}

fn assert_ran_in_silence(job: &Job) {
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    job.assert(!job.text.contains("rustcoll"), "the component spoke");
}

#[test]
fn mistyped_names_in_files_end_the_job_with_their_line() {
    let content = "# mine\ncoll_rustcoll_priority = 60\n\ncoll_rustcoll_alreduce_algorithm = ring\n";
    let (job, file) = run_with_file("mistyped", content, &[]);
    assert_refused(
        &job,
        &[
            "Parameter:    coll_rustcoll_alreduce_algorithm",
            &format!("Given in:     {file}:4"),
            "Nearest name: coll_rustcoll_allreduce_algorithm",
        ],
    );
}

#[test]
fn mistyped_names_in_the_environment_end_the_job() {
    let job = run(mpirun(2).args(["--mca", "coll_rustcoll_alreduce_algorithm", "ring"]).arg(user_program()));
    assert_refused(
        &job,
        &[
            "Parameter:    coll_rustcoll_alreduce_algorithm",
            "Given in:     the environment, or an option of mpirun",
            "Nearest name: coll_rustcoll_allreduce_algorithm",
        ],
    );
}

#[test]
fn files_of_the_site_count_as_those_of_the_user_do() {
    let file = place("site.conf");
    fs::write(&file, "coll_rustcoll_priority = 60\n/* a\nb */ coll_rustcoll_raport = summary\n").unwrap();
    let mut command = mpirun(2);
    command.env(UNNAMED.0, UNNAMED.1).env("OMPI_MCA_mca_base_param_files", &file);
    let job = run(command.arg(user_program()));
    assert_refused(
        &job,
        &[&format!("Given in:     {}:3", file.display()), "Nearest name: coll_rustcoll_report"],
    );
}

#[test]
fn illegal_values_in_files_end_the_job_with_their_line() {
    let (job, file) = run_with_file("illegal", "coll_rustcoll_alltoall_radix = 1\n", &[]);
    let said =
        ["Parameter:    coll_rustcoll_alltoall_radix", "Value:        1", &format!("Given in:     {file}:1")];
    assert_refused(&job, &said);
}

#[test]
fn who_gives_a_priority_asks_for_the_component_right_or_wrong() {
    let (job, file) = run_with_file("priority", "coll_rustcoll_priority = high\n", &[UNNAMED]);
    let said = ["Value:        high", &format!("Given in:     {file}:1"), "or a number from 0 up"];
    assert_refused(&job, &said);
    let (job, _) = run_with_file("mistyped_priority", "coll_rustcoll_priorty = 60\n", &[UNNAMED]);
    assert_refused(&job, &["Nearest name: coll_rustcoll_priority"]);
    let job = run(mpirun(2)
        .env(UNNAMED.0, UNNAMED.1)
        .args(["--mca", "coll_rustcoll_priority", "high"])
        .arg(user_program()));
    assert_refused(&job, &["Value:        high", "Given in:     the environment"]);
}

#[test]
fn a_job_without_the_component_hears_of_no_parameters() {
    for (name, content) in [
        ("unasked", "coll_rustcoll_alreduce_algorithm = ring\n"),
        ("off", "coll_rustcoll_priority = off\ncoll_rustcoll_alreduce_algorithm = ring\n"),
    ] {
        assert_ran_in_silence(&run_with_file(name, content, &[UNNAMED]).0);
    }
}

#[test]
fn a_wrong_parameter_ends_such_a_job_once_it_uses_the_component() {
    let wrong = [
        ("alreduce_algorithm", "ring", "Nearest name: coll_rustcoll_allreduce_algorithm"),
        ("allreduce_algorithm", "rinq", "Nearest name: ring"),
    ];
    for (name, value, said) in wrong {
        let given = (&*format!("OMPI_MCA_coll_rustcoll_{name}"), value);
        let mut command = mpirun(2);
        command.envs([UNNAMED, given]).arg(compiled("agreement")).arg("preferring");
        let job = run(&mut command);
        assert_refused(&job, &[said]);
        job.assert(job.count("came to the end") == 0, "the program must not run");

        let file = place("refused.json");
        let mut command = mpirun(2);
        command.envs([UNNAMED, given]).env("OMPI_MCA_coll_rustcoll_profile", file);
        assert_refused(&run(command.arg(user_program())), &[said]);
    }
}

/// Returns a component path with a component that was built for another release of Open MPI, and Open MPI's own
/// components.
fn path_of_another_release() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let directory = place("another_release");
        fs::create_dir_all(&directory).unwrap();
        let mut link = Command::new(root().join("scripts/link-component"));
        link.env("CPPFLAGS", "-DRUSTCOLL_RELEASE=\"4.1.999\"");
        link.args([directory.join("mca_coll_rustcoll.so"), root().join("target/library/librustcoll.a")]);
        let linked = run(&mut link);
        linked.assert(linked.success, "the component does not link");
        let help = "help-mca-coll-rustcoll.txt";
        fs::copy(root().join("src/coll_component").join(help), directory.join(help)).unwrap();
        let plugins = run(&mut Command::new(root().join("scripts/openmpi-plugins"))).text;
        format!("{}:{}", directory.display(), plugins.trim())
    })
}

/// Runs the program with that component, and only with the given parameters of it.
fn run_another_release(name: &str, content: &str, environment: &[(&str, &str)]) -> Job {
    let (mut command, _) = with_file(name, content, environment);
    command.env_remove(SHARED_MEMORY_FROM);
    run(command.args(["--mca", "mca_base_component_path", path_of_another_release()]).arg(user_program()))
}

fn assert_declined(job: &Job) {
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    job.assert_contains("was built for Open MPI 4.1.999, but this is");
    job.assert(job.count("was built for") == 1, "once on a node");
}

#[test]
fn a_component_for_another_release_declines_with_a_message() {
    assert_declined(&run_another_release("named", "", &[]));
}

#[test]
fn it_does_so_as_well_where_a_parameter_asks_for_it() {
    let given = [("priority", "60"), ("report", "summary"), ("rules_file", "/nowhere/rules.toml")];
    for (number, (parameter, value)) in given.into_iter().enumerate() {
        let variable = format!("OMPI_MCA_coll_rustcoll_{parameter}");
        assert_declined(&run_another_release("asked", "", &[UNNAMED, (&variable, value)]));
        let content = format!("coll_rustcoll_{parameter} = {value}\n");
        assert_declined(&run_another_release(&format!("asked_{number}"), &content, &[UNNAMED]));
    }
}

#[test]
fn it_does_so_in_silence_where_nobody_asks_for_it() {
    assert_ran_in_silence(&run_another_release("not_asked", "", &[UNNAMED]));
    assert_ran_in_silence(&run_another_release("sent_away", "coll_rustcoll_priority = off\n", &[UNNAMED]));
}
