//! What goes wrong on a rank, and when.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::exit;
use crate::history::{Fault, FaultKind, History};
use crate::process::MPI_ERR_OTHER;

/// The faults of a rank, and its numbers of sends and receives so far.
pub struct Faults {
    faults: Vec<Fault>,
    sends: Cell<usize>,
    receives: Cell<usize>,
}

/// Pieces of temporary memory until one is refused. Later pieces are granted, so that later calls could go on.
static PIECES: AtomicUsize = AtomicUsize::new(usize::MAX);

impl Faults {
    /// Returns a rank's faults. From now on, memory is refused as planned.
    pub fn of(history: &History, rank: usize) -> Faults {
        let faults: Vec<Fault> = history.faults.iter().filter(|fault| fault.rank == rank).copied().collect();
        for fault in &faults {
            match fault.kind {
                FaultKind::NoMemory => PIECES.store(fault.after, Relaxed),
                FaultKind::NothingToShare => forbid_files(),
                FaultKind::Send | FaultKind::Receive | FaultKind::Death => {}
            }
        }
        Faults { faults, sends: Cell::new(0), receives: Cell::new(0) }
    }

    /// Counts the next send, and returns its error if it fails. The rank may die here.
    pub fn of_send(&self) -> Option<c_int> {
        self.sends.set(self.sends.get() + 1);
        self.die_if_due();
        self.is_due(FaultKind::Send, self.sends.get()).then_some(MPI_ERR_OTHER)
    }

    /// Counts the next receive, and returns its error if it fails.
    pub fn of_receive(&self) -> Option<c_int> {
        self.receives.set(self.receives.get() + 1);
        self.is_due(FaultKind::Receive, self.receives.get()).then_some(MPI_ERR_OTHER)
    }

    fn die_if_due(&self) {
        if self.is_due(FaultKind::Death, self.sends.get()) {
            exit::dead();
        }
    }

    fn is_due(&self, kind: FaultKind, number: usize) -> bool {
        self.faults.iter().any(|fault| fault.kind == kind && fault.after + 1 == number)
    }
}

/// Shared memory is a file without a name, so a rank that can open no file cannot share memory.
fn forbid_files() {
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel only reads the limit, which affects only files that are opened later.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
}

/// Whether the next piece of temporary memory is refused.
pub fn refuses_memory() -> bool {
    let left = PIECES.load(Relaxed);
    if left < usize::MAX {
        PIECES.store(left.wrapping_sub(1), Relaxed);
    }
    left == 0
}
