//! Finds what is wrong with a job after its end.

use rustcoll::shim::{RUSTCOLL_ERR_NO_MEM, RUSTCOLL_SUCCESS};

use crate::board::{Board, NOT_BEGUN, Standing, UNDER_WAY};
use crate::exit;
use crate::history::{Deed, FaultKind, History, MOST_RANKS};
use crate::process::{MPI_ERR_OTHER, MPI_ERR_PROC_FAILED};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All ranks ended well.
    Well,
    /// A rank ended with this exit code.
    Code(i32),
    /// This rank ended by this signal.
    Signal(usize, i32),
}

impl History {
    /// Whether a rank may get this error.
    pub fn allows(&self, rank: usize, error: i32) -> bool {
        let has = |kinds: &[FaultKind]| {
            self.faults.iter().any(|fault| fault.rank == rank && kinds.contains(&fault.kind))
        };
        match error {
            RUSTCOLL_ERR_NO_MEM => self.has_limit() || has(&[FaultKind::NoMemory]),
            MPI_ERR_OTHER => has(&[FaultKind::Send, FaultKind::Receive]),
            MPI_ERR_PROC_FAILED => self.faults.iter().any(|fault| fault.kind == FaultKind::Death),
            _ => false,
        }
    }

    /// Whether temporary memory is limited.
    fn has_limit(&self) -> bool {
        let limits = |deed: &Deed| matches!(deed, Deed::Set(setting) if setting.name == "scratch_limit");
        self.steps.iter().any(|step| limits(&step.deed))
    }
}

/// Returns what is wrong with a job that ended so, if anything is.
pub fn judge(history: &History, board: &Board, end: End) -> Option<String> {
    let has_memory_fault = history.faults.iter().any(|fault| fault.kind == FaultKind::NoMemory);
    match end {
        // After ranks have exchanged lengths, the library can only end the job.
        End::Code(exit::ENDED_THE_JOB) if has_memory_fault => None,
        End::Signal(rank, signal) => {
            let wrong = board.wrong().unwrap_or_default();
            Some(format!("rank {rank} ended by signal {signal} {}; {wrong}", standing(board, rank)))
        }
        _ if board.wrong().is_some() => board.wrong(),
        End::Code(exit::HUNG) => hung(history, board),
        End::Code(code) => Some(format!("a rank ended with the exit code {code}")),
        // Ranks that cannot share memory send messages instead. After any other fault, ranks may differ.
        End::Well if history.faults.iter().all(|fault| fault.kind == FaultKind::NothingToShare) => {
            disagreement(history, board).or_else(|| leftover(board))
        }
        End::Well => None,
    }
}

fn standing(board: &Board, rank: usize) -> String {
    match board.standings[rank.min(MOST_RANKS - 1)] {
        Standing::Begins => "before its first step".into(),
        Standing::In(place) => format!("in step {place}"),
        Standing::Awaits(place) => format!("waiting for the operation of step {place}"),
        Standing::Ended => "at its end".into(),
        Standing::Dead => "dead".into(),
    }
}

/// Returns what is wrong if no rank can go on. Nothing is, if each waits for a rank that failed, or for one that waits
/// for such a rank.
fn hung(history: &History, board: &Board) -> Option<String> {
    let waits_for = |rank: usize| match board.standings[rank] {
        Standing::In(place) | Standing::Awaits(place) => Some(place),
        _ => None,
    };
    let waiting: Vec<usize> = (0..board.ranks).filter_map(waits_for).collect();
    let mut excused: Vec<usize> = Vec::new();
    let is_excuse = |excused: &[usize], place: usize, rank: usize| match board.outcomes[place][rank] {
        _ if board.standings[rank] == Standing::Dead => true,
        UNDER_WAY | RUSTCOLL_SUCCESS => false,
        NOT_BEGUN => waits_for(rank).is_some_and(|place| excused.contains(&place)),
        _ => true,
    };
    let is_excused = |excused: &[usize], place: usize| {
        let Some(communicator) = history.steps[place].communicator(history) else { return false };
        let members = &history.communicators[communicator].members;
        // A rank must not wait after MPI has told it of a death.
        let is_told = history.surroundings.tells_of_failures && board.has_died_of(members);
        !is_told && members.iter().any(|&rank| is_excuse(excused, place, rank))
    };
    let next = |excused: &[usize], is_so: bool| {
        let mut left = waiting.iter().copied().filter(|place| !excused.contains(place));
        left.find(|&place| is_excused(excused, place) == is_so)
    };
    while let Some(place) = next(&excused, true) {
        excused.push(place);
    }
    let blamed = next(&excused, false)?;
    let all: Vec<String> =
        (0..board.ranks).map(|rank| format!("rank {rank} is {}", standing(board, rank))).collect();
    Some(format!("no rank can go on, for step {blamed} does not end: {}", all.join(", ")))
}

/// Returns what is wrong if the ranks of a call have different outcomes.
fn disagreement(history: &History, board: &Board) -> Option<String> {
    (0..history.steps.len()).find_map(|place| {
        let communicator = history.steps[place].communicator(history)?;
        let members = &history.communicators[communicator].members;
        let outcomes: Vec<i32> = members.iter().map(|&rank| board.outcomes[place][rank]).collect();
        let differ = outcomes.iter().any(|outcome| *outcome != outcomes[0]);
        differ.then(|| format!("step {place}: its ranks do not return the same: {outcomes:?}"))
    })
}

/// Returns what is wrong if nobody received a message.
fn leftover(board: &Board) -> Option<String> {
    let left = board.network.leftover()?;
    Some(format!("a message is left that nobody received: {left:?}"))
}
