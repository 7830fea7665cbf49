//! Starts MPI jobs with the component of this clone.

#![allow(dead_code)]

pub mod notes;

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, RwLock, RwLockReadGuard};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A job's output, and whether it succeeded.
pub struct Job {
    pub success: bool,
    pub text: String,
}

impl Job {
    /// Panics with the job's output unless the condition is true.
    pub fn assert(&self, condition: bool, what: &str) {
        assert!(condition, "{what}; the job printed:\n{}", self.text);
    }

    pub fn assert_contains(&self, text: &str) {
        self.assert(self.text.contains(text), &format!("{text:?} is missing"));
    }

    pub fn count(&self, text: &str) -> usize {
        self.text.matches(text).count()
    }

    /// Whether Open MPI could not even start the ranks. Its daemons and jobs make and remove the same folder in /tmp,
    /// and daemons of several emulated hosts map hwloc's topology. On a busy machine, one job in a hundred fails in
    /// this way before any rank has loaded a plug-in.
    fn did_not_start(&self) -> bool {
        const MESSAGES: [&str; 2] = [
            "A call to mkdir was unable to create the desired directory",
            "ORTE was unable to reliably start one or more daemons",
        ];
        MESSAGES.iter().any(|message| self.text.contains(message))
    }

    /// Whether ranks jumped to unmapped addresses in `MPI_Finalize`, so that their stacks have no known frame. While
    /// `MPI_Finalize` unloads plug-ins, Open MPI 4.1's progress thread may still run a callback of a plug-in of PMIx. On a
    /// busy machine, one job in a few hundred dies in this way, with rustcoll or without. Other invalid accesses leave
    /// frames. `has_ended`: whether a process has come to `MPI_Finalize`.
    fn ran_unloaded_code(&self, has_ended: impl Fn(u32) -> bool) -> bool {
        let crashes = self.text.lines().filter(|line| line.contains("Signal: Segmentation fault (11)"));
        let crashed: Vec<Option<u32>> = crashes.map(process).collect();
        let have_ended = crashed.iter().all(|process| process.is_some_and(&has_ended));
        !crashed.is_empty() && have_ended && !self.text.contains("] [ 0] ")
    }
}

/// Returns the number of the process in a line of Open MPI: `[host:00042] Signal: …`.
fn process(line: &str) -> Option<u32> {
    line.split_once(']')?.0.rsplit_once(':')?.1.parse().ok()
}

/// Most seconds for a job, even on a machine that is busy with other work. The limit only ends jobs that hang.
pub const PATIENCE: u32 = 600;

/// Each job holds it: together with others, or for itself.
static JOBS: RwLock<()> = RwLock::new(());

fn beside_others() -> RwLockReadGuard<'static, ()> {
    JOBS.read().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub fn run(command: &mut Command) -> Job {
    let _beside_others = beside_others();
    run_within(PATIENCE, command)
}

/// Runs a job whose ranks compute all the time. No other job of this test program runs meanwhile, because ranks that
/// yield would wait for other jobs' ranks.
pub fn run_alone(seconds: u32, command: &mut Command) -> Job {
    let _alone = JOBS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    run_within(seconds, command)
}

/// How often a job is rerun after a failure that Open MPI causes by itself.
const REPETITIONS: u32 = 2;

/// Runs a command to its end, again if Open MPI fails by itself. Panics if it does not end within the given seconds.
fn run_within(seconds: u32, command: &Command) -> Job {
    for _ in 0..REPETITIONS {
        match run_once(seconds, command) {
            (job, false) => return job,
            (job, true) => {
                notes::note(&format!("REPEATED, because Open MPI failed by itself: {command:?}"));
                eprintln!("{}", job.text);
            }
        }
    }
    run_once(seconds, command).0
}

/// Runs a command to its end. Also returns whether Open MPI failed by itself.
fn run_once(seconds: u32, command: &Command) -> (Job, bool) {
    let ended = folder_of_ended();
    let mut limited = limited(seconds, command);
    limited.env("LD_PRELOAD", noting_the_end()).env("FOLDER_OF_ENDED", &ended);
    let Output { status, stdout, stderr } = limited.output().expect("timeout is there");
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let job = Job { success: status.success(), text };
    let has_ended = |process: u32| ended.join(process.to_string()).exists();
    let failed_by_itself = job.did_not_start() || job.ran_unloaded_code(has_ended);
    let _ = fs::remove_dir_all(&ended);
    job.assert(!ran_out_of_time(status), &format!("{command:?} did not end within {seconds} seconds"));
    (job, failed_by_itself)
}

/// Makes a folder where each process of a job leaves a file when it comes to `MPI_Finalize`.
fn folder_of_ended() -> PathBuf {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let name = format!("ended-{}-{}", std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the folder of the tests is there");
    folder
}

/// Returns the library by which processes leave these files.
fn noting_the_end() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| compiled_by(Command::new("cc").args(["-shared", "-fPIC"]), "ended"))
}

/// Returns a command that `timeout` ends after the given seconds.
fn limited(seconds: u32, command: &Command) -> Command {
    let mut limited = Command::new("timeout");
    limited
        .args(["--kill-after=10", &seconds.to_string()])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

/// Whether `timeout` ended the job. If the job ignored its first signal, `timeout` kills it and ends by the same
/// signal.
fn ran_out_of_time(status: ExitStatus) -> bool {
    const KILL: i32 = 9;
    status.code() == Some(124) || status.signal() == Some(KILL)
}

/// A job that goes on beside the test, below `timeout`. Dropping it ends the job with all its ranks, stopped ones too.
pub struct Running {
    timeout: Child,
    _beside_others: RwLockReadGuard<'static, ()>,
}

impl Running {
    pub fn start(command: &Command) -> Running {
        let _beside_others = beside_others();
        let mut limited = limited(PATIENCE, command);
        let timeout = limited.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("timeout is there");
        Running { timeout, _beside_others }
    }

    /// Returns what the job prints from now on. To be called once.
    pub fn output(&mut self) -> ChildStdout {
        self.timeout.stdout.take().expect("called once")
    }

    /// Returns the processes of the ranks: the children of `mpirun`.
    pub fn ranks(&self) -> Vec<u32> {
        children(self.timeout.id()).into_iter().flat_map(children).collect()
    }

    /// Waits for the end, and returns the exit code.
    pub fn end(&mut self) -> Option<i32> {
        self.timeout.wait().expect("it is a child").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.timeout.try_wait() {
            // mpirun wakes stopped ranks before it ends them.
            let _ = kill_process(Pid::from_child(&self.timeout), Signal::TERM);
            let _ = self.timeout.wait();
        }
    }
}

fn children(process: u32) -> Vec<u32> {
    let numbers = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    numbers.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// The parameter that says from which call on a communicator shares memory.
pub const SHARED_MEMORY_FROM: &str = "OMPI_MCA_coll_rustcoll_shared_memory_from";

/// Returns `mpirun` with the component that `make` built, and with that component in `--mca coll`.
pub fn mpirun(ranks: usize) -> Command {
    assert!(root().join("build/mca_coll_rustcoll.so").exists(), "run make first: the component is not built");
    let mut command = Command::new(root().join("scripts/mpirun-clone"));
    // Open MPI chooses ob1 anyway if there is no fast network, but its search takes a third of a short job's time.
    command.env("OMPI_MCA_pml", "ob1").args(["-n", &ranks.to_string()]);
    // The programs make few calls on a communicator. Unless a test changes this, they share memory from the first call
    // on.
    command.env(SHARED_MEMORY_FROM, "1");
    command
}

/// Returns the path of the user's C program, compiled once.
pub fn user_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("user_program"))
}

/// Compiles a C program of the tests, and returns its path.
pub fn compiled(name: &str) -> PathBuf {
    compiled_by(mpicc().arg("-pthread"), name)
}

/// Compiles a C library of the tests, and returns its path.
pub fn library(name: &str) -> PathBuf {
    compiled_by(mpicc().args(["-pthread", "-shared", "-fPIC"]), name)
}

fn mpicc() -> Command {
    Command::new(std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into()))
}

/// Compiles a C file of the tests with a compiler and options, and returns the path of the result.
fn compiled_by(compiler: &mut Command, name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name).with_extension("c");
    // Tests run at the same time, so no test may start a program that another is still writing.
    static COMPILED: AtomicUsize = AtomicUsize::new(0);
    let number = COMPILED.fetch_add(1, Ordering::Relaxed);
    let fresh = target.with_extension(format!("{}-{number}", std::process::id()));
    let status = compiler.args(["-O2", "-Wall", "-o"]).args([&fresh, &source]).status();
    assert!(status.expect("there is a compiler").success());
    fs::rename(&fresh, &target).expect("the same folder");
    target
}

/// Runs the user's program with options for `mpirun` and a broadcast root. The component logs everything.
pub fn run_user_program(ranks: usize, options: &[&str], bcast_root: usize) -> Job {
    let mut command = mpirun(ranks);
    command.env("OMPI_MCA_coll_rustcoll_verbose", "1").args(options);
    run(command.arg(user_program()).arg(bcast_root.to_string()))
}
