//! Runs a history. Each rank is a process, forked from this small, prepared process.

use std::ptr;

use crate::board;
use crate::exit;
use crate::history::{History, MOST_RANKS};
use crate::judge::{End, judge};
use crate::parameters::Parameter;
use crate::process::become_rank;
use crate::rank::Rank;

/// The most processor time of a rank, in seconds.
const LONGEST: u64 = 20;

/// Runs a history. Returns what is wrong, if anything is.
pub fn run(history: &History, parameters: &[Parameter]) -> Option<String> {
    board::with(|board| board.begin(history.ranks, history.steps.len(), history.seed));
    let mut processes: Vec<libc::pid_t> =
        (0..history.ranks).map(|rank| fork(history, parameters, rank)).collect();
    let first = board::with(|board| board.random.below(history.ranks));
    board::give_baton(first);
    let end = wait(&mut processes);
    board::with(|board| judge(history, board, end))
}

fn fork(history: &History, parameters: &[Parameter], rank: usize) -> libc::pid_t {
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: the process will end with its parent, and its processor time is limited.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // The soft limit has its own signal, which precedes SIGKILL: that may have other reasons.
                let limit = libc::rlimit { rlim_cur: LONGEST, rlim_max: 2 * LONGEST };
                libc::setrlimit(libc::RLIMIT_CPU, &limit);
            }
            // SAFETY: this process ends before the forked copies of both are dropped.
            let (history, parameters) = unsafe { (&*ptr::from_ref(history), &*ptr::from_ref(parameters)) };
            board::await_baton(rank);
            become_rank(rank, history);
            Rank::new(history, parameters, rank).run()
        }
        process if process > 0 => process,
        _ => panic!("no process can be forked: {}", std::io::Error::last_os_error()),
    }
}

/// Waits until all processes have ended. If one ends badly, kills the others.
fn wait(processes: &mut Vec<libc::pid_t>) -> End {
    let ranks = processes.clone();
    while !processes.is_empty() {
        let mut status = 0;
        // SAFETY: there is room for the status.
        let ended = unsafe { libc::waitpid(-1, &mut status, 0) };
        processes.retain(|process| *process != ended);
        let rank = ranks.iter().position(|process| *process == ended).unwrap_or(MOST_RANKS);
        let end = match libc::WIFSIGNALED(status) {
            true => End::Signal(rank, libc::WTERMSIG(status)),
            false if libc::WEXITSTATUS(status) == exit::WELL => continue,
            false => End::Code(libc::WEXITSTATUS(status)),
        };
        kill(processes);
        return end;
    }
    End::Well
}

fn kill(processes: &mut Vec<libc::pid_t>) {
    for process in processes.drain(..) {
        // SAFETY: the process is a child of this one, and nothing has waited for it.
        unsafe {
            libc::kill(process, libc::SIGKILL);
            libc::waitpid(process, ptr::null_mut(), 0);
        }
    }
}
