//! How a rank waits for another one of its node: it looks again at once, then lets MPI make progress, then lets others run.

use super::bindings::{rustcoll_shim_is_crowded, rustcoll_shim_progress};
use std::hint::spin_loop;
use std::thread::yield_now;

/// How long a rank looks before it does something else.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Whether there are more ranks than processors.
    is_crowded: bool,
}

/// Looks in a row where each rank has a processor: some microseconds.
const LOOKS: u32 = 2000;

/// Looks in a row where the rank that is waited for may need this processor.
const LOOKS_IN_A_CROWD: u32 = 30;

/// Turns that are given away for each one in which MPI makes progress.
const YIELDS: u32 = 8;

impl Patience {
    /// That of a job whose ranks are as they are.
    pub fn of_job() -> Patience {
        // SAFETY: looks at what Open MPI knows of the job.
        Patience { is_crowded: unsafe { rustcoll_shim_is_crowded() } != 0 }
    }

    /// Waits until something is over.
    #[inline]
    pub fn wait_until(self, mut is_over: impl FnMut() -> bool) {
        let looks = if self.is_crowded { LOOKS_IN_A_CROWD } else { LOOKS };
        for _ in 0..looks {
            if is_over() {
                return;
            }
            spin_loop();
        }
        self.wait_long(looks, is_over);
    }

    #[cold]
    fn wait_long(self, looks: u32, mut is_over: impl FnMut() -> bool) {
        loop {
            // SAFETY: MPI is initialised, and collectives may make progress.
            unsafe { rustcoll_shim_progress() };
            for _ in 0..if self.is_crowded { YIELDS } else { looks / 20 } {
                if is_over() {
                    return;
                }
                if self.is_crowded { yield_now() } else { spin_loop() }
            }
        }
    }
}
