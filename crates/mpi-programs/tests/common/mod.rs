//! Starts MPI jobs with the component of this clone.

#![allow(dead_code)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

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

    /// Whether a rank jumped to an unmapped address, so its stack has no known frame. While `MPI_Finalize` unloads
    /// plug-ins, Open MPI 4.1's progress thread may still run a callback of a plug-in of PMIx. On a busy machine, one
    /// job in a few hundred dies in this way, with rustcoll or without. Other invalid accesses leave frames.
    fn ran_unloaded_code(&self) -> bool {
        self.text.contains("Signal: Segmentation fault (11)") && !self.text.contains("] [ 0] ")
    }
}

/// Most seconds for a job, even on a machine that is busy with other work. The limit only ends jobs that hang.
pub const PATIENCE: u32 = 600;

pub fn run(command: &mut Command) -> Job {
    run_within(PATIENCE, command)
}

/// Runs a job whose ranks compute all the time. Only one such job runs at a time, because ranks that yield would wait
/// for other jobs' ranks.
pub fn run_alone(seconds: u32, command: &mut Command) -> Job {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    run_within(seconds, command)
}

/// Runs a command to its end. Panics if it does not end within the given seconds.
fn run_within(seconds: u32, command: &mut Command) -> Job {
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
    let mut once = || {
        let Output { status, stdout, stderr } = limited.output().expect("timeout is there");
        let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let job = Job { success: status.success(), text };
        job.assert(!ran_out_of_time(status), &format!("{command:?} did not end within {seconds} seconds"));
        job
    };
    let mut job = once();
    for _ in 0..REPETITIONS {
        if !job.ran_unloaded_code() && !job.did_not_start() {
            break;
        }
        eprintln!("Open MPI failed by itself; once again:\n{}", job.text);
        job = once();
    }
    job
}

/// Whether `timeout` ended the job. If the job ignored its first signal, `timeout` kills it and ends by the same
/// signal.
fn ran_out_of_time(status: ExitStatus) -> bool {
    const KILL: i32 = 9;
    status.code() == Some(124) || status.signal() == Some(KILL)
}

/// How often a job is rerun after a failure that Open MPI causes by itself.
const REPETITIONS: u32 = 2;

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
    compiled_with(&[], name)
}

/// Compiles a C library of the tests, and returns its path.
pub fn library(name: &str) -> PathBuf {
    compiled_with(&["-shared", "-fPIC"], name)
}

fn compiled_with(options: &[&str], name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name).with_extension("c");
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    // Tests run at the same time, so no test may start a program that another is still writing.
    static COMPILED: AtomicUsize = AtomicUsize::new(0);
    let number = COMPILED.fetch_add(1, Ordering::Relaxed);
    let fresh = target.with_extension(format!("{}-{number}", std::process::id()));
    let mut command = Command::new(compiler);
    command.args(["-O2", "-Wall", "-pthread"]).args(options).arg("-o").args([&fresh, &source]);
    let status = command.status();
    assert!(status.expect("mpicc is there").success());
    std::fs::rename(&fresh, &target).expect("the same folder");
    target
}

/// Runs the user's program with options for `mpirun` and a broadcast root. The component logs everything.
pub fn run_user_program(ranks: usize, options: &[&str], bcast_root: usize) -> Job {
    let mut command = mpirun(ranks);
    command.env("OMPI_MCA_coll_rustcoll_verbose", "1").args(options);
    run(command.arg(user_program()).arg(bcast_root.to_string()))
}
