//! How a rank waits for another one of its node: it looks repeatedly, then lets MPI make progress, checks for
//! failures, and yields the processor. Calls that end before it lets MPI make progress count themselves in
//! [`Work`](crate::mpi::messages::work::Work).

use crate::mpi::messages::transport::{Error, check};
use crate::mpi::shim::bindings::{rustcoll_shim_failure, rustcoll_shim_is_crowded, rustcoll_shim_progress};
use std::ffi::c_void;
use std::hint::spin_loop;
use std::thread::{sleep, yield_now};
use std::time::Duration;

/// How a rank waits, depending on the load of its node.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Whether there are more ranks than processors.
    is_crowded: bool,
    /// The handle of the communicator whose ranks are awaited.
    communicator: *const c_void,
}

/// Looks in a row before the first pause.
const LOOKS_WITHOUT_PAUSE: usize = 20;

/// Looks in a row where each rank has a processor: at first (some ten microseconds), and between two calls of MPI.
const LOOKS: usize = 2000;
const LOOKS_BETWEEN_TURNS: usize = 200;

/// Yields in a row between two progress calls of MPI, where the awaited rank may need this processor.
const YIELDS: usize = 16;

/// How often, and after what pause, a rank asks MPI why another one cannot be read.
const QUESTIONS: usize = 200;
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(10);

impl Patience {
    /// For ranks of a communicator that lives as long as the result.
    pub fn with(communicator: *const c_void) -> Patience {
        // SAFETY: looks at what MPI knows of the job.
        Patience { is_crowded: unsafe { rustcoll_shim_is_crowded() } != 0, communicator }
    }

    /// Looks some times without a pause, because waits are often shorter than one. Returns whether the wait is over.
    #[inline]
    pub fn is_over_at_once(mut is_over: impl FnMut() -> bool) -> bool {
        (0..LOOKS_WITHOUT_PAUSE).any(|_| is_over())
    }

    /// Waits until `is_over` says so. Fails if any rank of the communicator fails meanwhile, or the
    /// communicator is revoked: the awaited rank may have given up because of that.
    pub fn wait_until(self, is_over: impl FnMut() -> bool) -> Result<(), Error> {
        self.wait_long(is_over, if self.is_crowded { YIELDS } else { LOOKS })
    }

    /// Like [`Patience::wait_until`], for what messages bring: they move only while MPI makes progress.
    pub fn wait_for_messages(self, is_over: impl FnMut() -> bool) -> Result<(), Error> {
        self.wait_long(is_over, 1)
    }

    /// `looks`: how many in a row before MPI first makes progress.
    fn wait_long(self, mut is_over: impl FnMut() -> bool, mut looks: usize) -> Result<(), Error> {
        let pause: fn() = if self.is_crowded { yield_now } else { spin_loop };
        loop {
            for _ in 0..looks {
                pause();
                if is_over() {
                    return Ok(());
                }
            }
            self.look_for_failures()?;
            // The awaited rank may be bound to this processor, even if there are enough of them.
            yield_now();
            looks = looks.min(LOOKS_BETWEEN_TURNS);
        }
    }

    /// Waits some time for MPI to learn of a failure that another rank knows already, and fails with it.
    #[cold]
    pub fn learn_of_failure(self) -> Result<(), Error> {
        for _ in 0..QUESTIONS {
            self.look_for_failures()?;
            sleep(BETWEEN_QUESTIONS);
        }
        Ok(())
    }

    /// Lets MPI make progress. Fails if a rank has failed, or the communicator was revoked.
    fn look_for_failures(self) -> Result<(), Error> {
        // SAFETY: MPI is initialised, and collectives may make progress; the communicator lives as long as this one.
        check(unsafe {
            rustcoll_shim_progress();
            rustcoll_shim_failure(self.communicator)
        })
    }
}
