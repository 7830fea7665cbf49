//! What the ranks of a job share: whose turn it is, their messages, and each rank's state. Only the rank with the
//! baton accesses it.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use rustcoll::random::Random;

use crate::history::{MOST_RANKS, MOST_STEPS};
use crate::network::{Envelope, Network};

/// A rank's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not yet done anything.
    Begins,
    /// It carries out the step with this place in the history.
    In(usize),
    /// It waits for the operation that the step with this place began.
    Awaits(usize),
    Ended,
    Dead,
}

/// The outcome of a call that a rank has not begun.
pub const NOT_BEGUN: i32 = i32::MIN;

/// The outcome of a call in flight.
pub const UNDER_WAY: i32 = i32::MIN + 1;

/// The reason why a job went wrong, as text.
pub struct Verdict {
    length: usize,
    text: [u8; 4000],
}

pub struct Board {
    /// Whether it is a rank's turn, for each rank.
    batons: [AtomicU32; MOST_RANKS],
    /// Draws the next rank and the next message to arrive.
    pub random: Random,
    /// Turns of waiting ranks since anything happened.
    pub quiet: usize,
    /// How many of these turns each rank had.
    pub quiet_of: [usize; MOST_RANKS],
    pub ranks: usize,
    /// Whether a waiting rank waits for shared memory, for each rank.
    pub wait_for_memory: [bool; MOST_RANKS],
    /// The state of each rank.
    pub standings: [Standing; MOST_RANKS],
    /// The outcome of each call, by step and rank.
    pub outcomes: [[i32; MOST_RANKS]; MOST_STEPS],
    /// The first fault.
    pub verdict: Verdict,
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

/// Lets the holder of the baton use the board.
pub fn with<R>(use_it: impl FnOnce(&mut Board) -> R) -> R {
    // SAFETY: the mapping is as long as a board, whose bytes may all be zero. Only the holder of the baton is
    // here, and uses are not nested.
    use_it(unsafe { &mut *BOARD.load(Ordering::Relaxed) })
}

impl Board {
    /// Resets the board for a new job.
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

    /// Returns the ranks that have neither ended nor died.
    pub fn living(&self) -> impl Iterator<Item = usize> {
        let is_living = |&rank: &usize| !matches!(self.standings[rank], Standing::Ended | Standing::Dead);
        (0..self.ranks).filter(is_living)
    }

    /// Whether any of these ranks has died.
    pub fn has_died_of(&self, members: &[usize]) -> bool {
        members.iter().any(|&rank| self.standings[rank] == Standing::Dead)
    }

    /// Whether a message will never come, because its sender died.
    pub fn is_lost(&self, envelope: Envelope) -> bool {
        self.standings[envelope.from] == Standing::Dead && !self.network.has(envelope)
    }

    /// Notes a fault, unless the board has one already.
    pub fn note(&mut self, wrong: &str) {
        if self.verdict.length == 0 {
            let Verdict { length, text } = &mut self.verdict;
            *length = wrong.len().min(text.len());
            text[..*length].copy_from_slice(&wrong.as_bytes()[..*length]);
        }
    }

    /// Returns the first fault.
    pub fn wrong(&self) -> Option<String> {
        let Verdict { length, text } = &self.verdict;
        (*length > 0).then(|| String::from_utf8_lossy(&text[..*length]).into_owned())
    }
}

/// Notes the outcome of a rank's call. `place` is the place of the step that began the call.
pub fn note_outcome(rank: usize, place: usize, outcome: i32) {
    with(|board| {
        board.quiet = 0;
        board.outcomes[place][rank] = outcome;
    });
}

/// Gives the baton to a rank. The giver must not use the board until it has the baton again.
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
        // SAFETY: as above; there is no time limit.
        unsafe {
            libc::syscall(libc::SYS_futex, baton.as_ptr(), libc::FUTEX_WAIT, 0, ptr::null::<libc::timespec>())
        };
    }
}

fn baton(rank: usize) -> &'static AtomicU32 {
    // SAFETY: the board lives as long as the process, and batons are only accessed as atomic numbers.
    unsafe { &(*BOARD.load(Ordering::Relaxed)).batons[rank] }
}
