//! How a rank waits for another one of its node: it looks again at once, then lets MPI make progress, looks for failures, and lets others
//! run.

use crate::mpi::messages::transport::{Error, check};
use crate::mpi::shim::bindings::{rustcoll_shim_failure, rustcoll_shim_is_crowded, rustcoll_shim_progress};
use std::ffi::c_void;
use std::hint::spin_loop;
use std::thread::yield_now;

/// How long a rank looks before it does something else.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Whether there are more ranks than processors.
    is_crowded: bool,
    /// Whose ranks are waited for, as a handle.
    communicator: *const c_void,
}

/// Looks in a row before the first pause.
const LOOKS_WITHOUT_PAUSE: usize = 20;

/// Looks in a row where each rank has a processor: some ten microseconds, and between two turns of MPI.
const LOOKS: usize = 2000;
const LOOKS_BETWEEN_TURNS: usize = 200;

/// Where the rank that is waited for may need this processor, which it gets at once: turns given away between two of MPI.
const YIELDS: usize = 16;

impl Patience {
    /// With ranks of a communicator that lives as long.
    pub fn with(communicator: *const c_void) -> Patience {
        // SAFETY: looks at what MPI knows of the job.
        Patience { is_crowded: unsafe { rustcoll_shim_is_crowded() } != 0, communicator }
    }

    /// Waits until something is over. An error if any rank of the communicator fails meanwhile, or somebody revokes it: whoever is waited
    /// for may have given up because of another one.
    #[inline]
    pub fn wait_until(self, mut is_over: impl FnMut() -> bool) -> Result<(), Error> {
        // Often it is a matter of less than a pause.
        for _ in 0..LOOKS_WITHOUT_PAUSE {
            if is_over() {
                return Ok(());
            }
        }
        self.wait_long(is_over)
    }

    fn wait_long(self, mut is_over: impl FnMut() -> bool) -> Result<(), Error> {
        let (pause, mut looks): (fn(), usize) =
            if self.is_crowded { (yield_now, YIELDS) } else { (spin_loop, LOOKS) };
        loop {
            for _ in 0..looks {
                pause();
                if is_over() {
                    return Ok(());
                }
            }
            // SAFETY: MPI is initialised, and collectives may make progress; the communicator lives as long as this one.
            check(unsafe {
                rustcoll_shim_progress();
                rustcoll_shim_failure(self.communicator)
            })?;
            // Who is waited for may be bound to this processor, however many there are.
            yield_now();
            looks = looks.min(LOOKS_BETWEEN_TURNS);
        }
    }
}
