//! Starting MPI jobs with the component of this clone.

#![allow(dead_code)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// The clone's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What a job printed, and how it ended.
pub struct Job {
    pub success: bool,
    pub text: String,
}

impl Job {
    /// Panics with the job's output unless the condition holds.
    pub fn assert(&self, condition: bool, what: &str) {
        assert!(condition, "{what}; the job printed:\n{}", self.text);
    }

    pub fn assert_contains(&self, text: &str) {
        self.assert(self.text.contains(text), &format!("{text:?} is missing"));
    }

    pub fn count(&self, text: &str) -> usize {
        self.text.matches(text).count()
    }

    /// Whether Open MPI could not even start the ranks. Its daemons and jobs make and remove the same folder in /tmp, and those of several emulated
    /// hosts map hwloc's topology: on a busy machine one job in a hundred ends so before any rank has loaded a plug-in.
    fn did_not_start(&self) -> bool {
        const MESSAGES: [&str; 2] = [
            "A call to mkdir was unable to create the desired directory",
            "ORTE was unable to reliably start one or more daemons",
        ];
        MESSAGES.iter().any(|message| self.text.contains(message))
    }

    /// Whether a rank died of a jump to where nothing is, so that no frame of its stack is known. While `MPI_Finalize` unloads plug-ins,
    /// Open MPI 4.1's thread of progress may still run a callback of one of them, of PMIx; on a busy machine one job in a few hundred dies
    /// so, with rustcoll or without. Of any other invalid access there are frames.
    fn ran_unloaded_code(&self) -> bool {
        self.text.contains("Signal: Segmentation fault (11)") && !self.text.contains("] [ 0] ")
    }
}

/// How many seconds a job may take, also on a machine that is busy with other work. It only ends jobs that hang.
pub const PATIENCE: u32 = 600;

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Job {
    run_within(PATIENCE, command)
}

/// Runs a job whose ranks compute all the time: one such at a time, or ranks that yield wait for those of other jobs.
pub fn run_alone(seconds: u32, command: &mut Command) -> Job {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    run_within(seconds, command)
}

/// Runs a command to its end, which must come within the given seconds.
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

/// Whether `timeout` says so: where the job did not heed the first signal either, it is killed, and `timeout` ends by the same signal.
fn ran_out_of_time(status: ExitStatus) -> bool {
    const KILL: i32 = 9;
    status.code() == Some(124) || status.signal() == Some(KILL)
}

/// How often a job is run again that died of what Open MPI does by itself.
const REPETITIONS: u32 = 2;

/// From which call on a communicator has shared memory.
pub const SHARED_MEMORY_FROM: &str = "OMPI_MCA_coll_rustcoll_shared_memory_from";

/// `mpirun` with the component that `make` built and named in `--mca coll`.
pub fn mpirun(ranks: usize) -> Command {
    assert!(root().join("build/mca_coll_rustcoll.so").exists(), "run make first: the component is not built");
    let mut command = Command::new(root().join("scripts/mpirun-clone"));
    // What is chosen anyway where there is no fast network; to look for one takes a third of a short job's time.
    command.env("OMPI_MCA_pml", "ob1").args(["-n", &ranks.to_string()]);
    // The programs make few calls on a communicator. Unless a test says otherwise, these go over shared memory as later ones do.
    command.env(SHARED_MEMORY_FROM, "1");
    command
}

/// The C program of a user, compiled once.
pub fn user_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("user_program"))
}

/// Compiles a C program of the tests.
pub fn compiled(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name).with_extension("c");
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    // Tests run at the same time: none may start what another one is still writing.
    static COMPILED: AtomicUsize = AtomicUsize::new(0);
    let number = COMPILED.fetch_add(1, Ordering::Relaxed);
    let fresh = target.with_extension(format!("{}-{number}", std::process::id()));
    let status =
        Command::new(compiler).args(["-O2", "-Wall", "-pthread", "-o"]).args([&fresh, &source]).status();
    assert!(status.expect("mpicc is there").success());
    std::fs::rename(&fresh, &target).expect("the same folder");
    target
}

/// Runs the user's program with options for `mpirun`, a broadcast's root, and everything the component logs.
pub fn run_user_program(ranks: usize, options: &[&str], bcast_root: usize) -> Job {
    let mut command = mpirun(ranks);
    command.env("OMPI_MCA_coll_rustcoll_verbose", "1").args(options);
    run(command.arg(user_program()).arg(bcast_root.to_string()))
}
