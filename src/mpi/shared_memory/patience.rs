//! How a rank waits for another one of its node: it looks again at once, then lets MPI make progress, then lets others run.

use crate::mpi::shim::bindings::{rustcoll_shim_is_crowded, rustcoll_shim_progress};
use std::hint::spin_loop;
use std::thread::yield_now;

/// How long a rank looks before it does something else.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Whether there are more ranks than processors.
    is_crowded: bool,
}

/// Looks in a row before the first pause.
const LOOKS_WITHOUT_PAUSE: usize = 20;

/// Looks in a row where each rank has a processor: some ten microseconds, and between two turns of MPI.
const LOOKS: usize = 2000;
const LOOKS_BETWEEN_TURNS: usize = 200;

/// Where the rank that is waited for may need this processor, which it gets at once: turns given away between two of MPI.
const YIELDS: usize = 16;

impl Patience {
    /// That of a job whose ranks are as they are.
    pub fn of_job() -> Patience {
        // SAFETY: looks at what MPI knows of the job.
        Patience { is_crowded: unsafe { rustcoll_shim_is_crowded() } != 0 }
    }

    /// Waits until something is over.
    #[inline]
    pub fn wait_until(self, mut is_over: impl FnMut() -> bool) {
        // Often it is a matter of less than a pause.
        for _ in 0..LOOKS_WITHOUT_PAUSE {
            if is_over() {
                return;
            }
        }
        self.wait_long(is_over);
    }

    fn wait_long(self, mut is_over: impl FnMut() -> bool) {
        let (pause, mut looks): (fn(), usize) =
            if self.is_crowded { (yield_now, YIELDS) } else { (spin_loop, LOOKS) };
        loop {
            for _ in 0..looks {
                pause();
                if is_over() {
                    return;
                }
            }
            // SAFETY: MPI is initialised, and collectives may make progress.
            unsafe { rustcoll_shim_progress() };
            // Who is waited for may be bound to this processor, however many there are.
            yield_now();
            looks = looks.min(LOOKS_BETWEEN_TURNS);
        }
    }
}
