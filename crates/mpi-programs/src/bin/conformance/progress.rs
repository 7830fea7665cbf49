//! Counts the checks of a rank, and ends the job if a call never returns.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use mpi_programs::environment;

/// The longest time for a single case.
const PATIENCE: Duration = Duration::from_secs(180);
/// The most failures that are described.
pub const DESCRIBED: usize = 20;

/// Checks since the last report.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    /// The first failures, each in one line.
    pub failures: Vec<String>,
}

#[derive(Debug, Default)]
struct State {
    tally: Tally,
    /// The current case, and when it began.
    case: Option<(String, Instant)>,
}

/// Counts the checks of this rank.
pub struct Progress {
    rank: usize,
    state: Arc<Mutex<State>>,
}

impl Progress {
    /// Starts to count, and starts the thread that watches for hanging calls.
    pub fn new(rank: usize) -> Self {
        let progress = Progress { rank, state: Arc::default() };
        let state = progress.state.clone();
        thread::spawn(move || watch(rank, &state));
        progress
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the lock")
    }

    /// Notes that a case begins.
    pub fn begin(&mut self, case: String) {
        self.state().case = Some((case, Instant::now()));
    }

    /// Notes that no case runs.
    pub fn rest(&mut self) {
        self.state().case = None;
    }

    /// Counts a check of the current case. It failed if there is a problem.
    pub fn check(&mut self, problem: Option<String>) {
        let rank = self.rank;
        let State { tally, case } = &mut *self.state();
        let Some(problem) = problem else {
            tally.passed += 1;
            return;
        };
        tally.failed += 1;
        if tally.failures.len() < DESCRIBED {
            let case = case.as_ref().map_or("", |(case, _)| case);
            tally.failures.push(format!("rank {rank} of the job: {case}: {problem}"));
        }
    }

    /// Returns the counts and resets them.
    pub fn take(&mut self) -> Tally {
        std::mem::take(&mut self.state().tally)
    }
}

/// Ends the job if a case takes too long, and prints the case.
fn watch(rank: usize, state: &Mutex<State>) {
    loop {
        thread::sleep(Duration::from_secs(1));
        let Ok(state) = state.lock() else { return };
        let Some((case, since)) = &state.case else { continue };
        if since.elapsed() > PATIENCE {
            for failure in &state.tally.failures {
                eprintln!("FAILED {failure}");
            }
            eprintln!("rank {rank} of the job: {case}: still not done after {} seconds", PATIENCE.as_secs());
            environment::kill();
        }
    }
}
