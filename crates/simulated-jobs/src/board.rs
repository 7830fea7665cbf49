//! What the ranks of a job share: whose turn it is, their messages, and how each fares. Only who has the baton looks at it.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use rustcoll::random::Random;

use crate::history::{MOST_RANKS, MOST_STEPS};
use crate::network::{Envelope, Network};

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not done anything yet.
    Begins,
    /// It carries out a step, by its place in the history.
    In(usize),
    /// It waits for the operation that a step began.
    Awaits(usize),
    /// It has come to its end.
    Ended,
    /// It died.
    Dead,
}

/// What a rank's call came to: nothing yet, for it has not begun.
pub const NOT_BEGUN: i32 = i32::MIN;

/// The same, and it is under way.
pub const UNDER_WAY: i32 = i32::MIN + 1;

/// A message for people, and why the job ended that it tells of.
pub struct Verdict {
    length: usize,
    text: [u8; 4000],
}

/// What all ranks share.
pub struct Board {
    /// Of each rank whether it is its turn.
    batons: [AtomicU32; MOST_RANKS],
    /// Draws whose turn it is, and which message arrives.
    pub random: Random,
    /// How many turns of ranks that wait there were since anything happened.
    pub quiet: usize,
    /// How many of these each rank had.
    pub quiet_of: [usize; MOST_RANKS],
    /// Number of ranks.
    pub ranks: usize,
    /// Of each rank whether it waits for memory that it shares, if it waits.
    pub wait_for_memory: [bool; MOST_RANKS],
    /// What each rank does.
    pub standings: [Standing; MOST_RANKS],
    /// By step and rank: what the call came to.
    pub outcomes: [[i32; MOST_RANKS]; MOST_STEPS],
    /// What is wrong.
    pub verdict: Verdict,
    /// The messages.
    pub network: Network,
}

static BOARD: AtomicPtr<Board> = AtomicPtr::new(ptr::null_mut());

/// Makes the board, before any rank is forked.
pub fn make() {
    // SAFETY: a new mapping disturbs no other memory.
    let base = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        libc::mmap(ptr::null_mut(), size_of::<Board>(), access, flags, -1, 0)
    };
    assert!(base != libc::MAP_FAILED, "there is memory for what the ranks share");
    BOARD.store(base.cast(), Ordering::Relaxed);
}

/// Has who has the baton use the board.
pub fn with<R>(use_it: impl FnOnce(&mut Board) -> R) -> R {
    // SAFETY: the mapping is as long as a board, whose bytes may all be zero; only who has the baton is here, and no use
    // is within another one.
    use_it(unsafe { &mut *BOARD.load(Ordering::Relaxed) })
}

impl Board {
    /// Makes it that of a new job.
    pub fn begin(&mut self, ranks: usize, steps: usize, seed: u64) {
        self.batons = Default::default();
        self.random = Random(seed);
        (self.quiet, self.ranks, self.verdict.length) = (0, ranks, 0);
        self.quiet_of = [0; MOST_RANKS];
        self.wait_for_memory = [false; MOST_RANKS];
        self.standings = [Standing::Begins; MOST_RANKS];
        self.outcomes[..steps].fill([NOT_BEGUN; MOST_RANKS]);
        self.network.clear();
    }

    /// The ranks that have not come to their end.
    pub fn living(&self) -> impl Iterator<Item = usize> {
        let is_living = |&rank: &usize| !matches!(self.standings[rank], Standing::Ended | Standing::Dead);
        (0..self.ranks).filter(is_living)
    }

    /// Whether any of these ranks has died.
    pub fn has_died_of(&self, members: &[usize]) -> bool {
        members.iter().any(|&rank| self.standings[rank] == Standing::Dead)
    }

    /// Whether a message never comes, because its sender has died.
    pub fn is_lost(&self, envelope: Envelope) -> bool {
        self.standings[envelope.from] == Standing::Dead && !self.network.has(envelope)
    }

    /// Notes what is wrong, unless something else was before.
    pub fn note(&mut self, wrong: &str) {
        if self.verdict.length == 0 {
            let Verdict { length, text } = &mut self.verdict;
            *length = wrong.len().min(text.len());
            text[..*length].copy_from_slice(&wrong.as_bytes()[..*length]);
        }
    }

    /// What is wrong.
    pub fn wrong(&self) -> Option<String> {
        let Verdict { length, text } = &self.verdict;
        (*length > 0).then(|| String::from_utf8_lossy(&text[..*length]).into_owned())
    }
}

/// Notes what a rank's call came to, which the step at a place began.
pub fn note_outcome(rank: usize, place: usize, outcome: i32) {
    with(|board| {
        board.quiet = 0;
        board.outcomes[place][rank] = outcome;
    });
}

/// Gives the baton to a rank. Who gave it does not look at the board before it gets it back.
pub fn give_baton(rank: usize) {
    let baton = baton(rank);
    baton.store(1, Ordering::Release);
    // SAFETY: the address is that of a number in memory that outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, baton.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Waits for the baton.
pub fn await_baton(rank: usize) {
    let baton = baton(rank);
    while baton.swap(0, Ordering::Acquire) == 0 {
        // SAFETY: as above; there is no limit of time.
        unsafe {
            libc::syscall(libc::SYS_futex, baton.as_ptr(), libc::FUTEX_WAIT, 0, ptr::null::<libc::timespec>())
        };
    }
}

fn baton(rank: usize) -> &'static AtomicU32 {
    // SAFETY: the board lives as long as the process, and batons are only accessed as atomic numbers.
    unsafe { &(*BOARD.load(Ordering::Relaxed)).batons[rank] }
}
