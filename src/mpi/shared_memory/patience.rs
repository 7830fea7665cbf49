//! How a rank waits for another one of its node: it looks repeatedly, then lets MPI make progress, checks for
//! failures, and yields the processor. Calls that end before it lets MPI make progress count themselves by
//! [`note_call_in_slots`](crate::mpi::messages::work::note_call_in_slots).

use crate::mpi::messages::transport::{Error, check};
use crate::mpi::shim::bindings::{rustcoll_shim_failure, rustcoll_shim_is_crowded, rustcoll_shim_progress};
use std::ffi::c_void;
use std::hint::spin_loop;
use std::thread::{sleep, yield_now};
use std::time::Duration;

/// How a rank waits, depending on the load of its node.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Whether there are more ranks than processors, or MPI itself yields while it waits.
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

/// A set of processors, a bit for each.
type Processors = [u64; 16];

impl Patience {
    /// For ranks of a communicator that lives as long as the result.
    pub fn with(communicator: *const c_void) -> Patience {
        // SAFETY: looks at what MPI knows of the job.
        Patience { is_crowded: unsafe { rustcoll_shim_is_crowded() } != 0, communicator }
    }

    /// Returns the patience of ranks with these processes; 0 stands for ranks on other nodes. A container, a batch job or
    /// a launcher may allow them only some of the node's processors.
    pub fn of_processes(self, processes: &[u32]) -> Patience {
        let here: Vec<u32> = processes.iter().copied().filter(|&process| process != 0).collect();
        let is_short = || processors_of(&here).is_some_and(|processors| processors < here.len());
        Patience { is_crowded: self.is_crowded || is_short(), ..self }
    }

    /// Looks some times without a pause, because waits are often shorter than one. Returns whether the wait is over.
    #[inline]
    pub fn is_over_at_once(mut is_over: impl FnMut() -> bool) -> bool {
        (0..LOOKS_WITHOUT_PAUSE).any(|_| is_over())
    }

    /// Looks as often as before MPI first makes progress. Returns whether the wait is over.
    pub fn is_over_soon(self, is_over: impl FnMut() -> bool) -> bool {
        self.is_over_within(if self.is_crowded { YIELDS } else { LOOKS }, is_over)
    }

    /// Waits until `is_over` says so, and lets MPI make progress. Fails if any rank of the communicator fails meanwhile,
    /// or the communicator is revoked: the awaited rank may have given up because of that.
    pub fn wait_until(self, is_over: impl FnMut() -> bool) -> Result<(), Error> {
        self.wait_long(if self.is_crowded { YIELDS } else { LOOKS_BETWEEN_TURNS }, is_over)
    }

    /// Like [`Patience::wait_until`], for what messages bring: they move only while MPI makes progress.
    pub fn wait_for_messages(self, mut is_over: impl FnMut() -> bool) -> Result<(), Error> {
        if is_over() { Ok(()) } else { self.wait_long(1, is_over) }
    }

    /// `looks`: how many in a row between two times that MPI makes progress.
    fn wait_long(self, looks: usize, mut is_over: impl FnMut() -> bool) -> Result<(), Error> {
        loop {
            self.look_for_failures()?;
            // The awaited rank may be bound to this processor, even if there are enough of them.
            yield_now();
            if self.is_over_within(looks, &mut is_over) {
                return Ok(());
            }
        }
    }

    /// Looks so many times, each after a pause. Returns whether the wait is over.
    fn is_over_within(self, looks: usize, mut is_over: impl FnMut() -> bool) -> bool {
        let pause: fn() = if self.is_crowded { yield_now } else { spin_loop };
        (0..looks).any(|_| {
            pause();
            is_over()
        })
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

/// Returns on how many processors any of these processes may run; `None` if the system does not tell.
fn processors_of(processes: &[u32]) -> Option<usize> {
    let mut all = Processors::default();
    for &process in processes {
        let mut own = Processors::default();
        // SAFETY: the system writes at most as many bytes as there are.
        let status = unsafe {
            libc::sched_getaffinity(process as libc::pid_t, size_of_val(&own), own.as_mut_ptr().cast())
        };
        if status != 0 {
            return None;
        }
        all.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
    }
    Some(all.iter().map(|word| word.count_ones() as usize).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::id;
    use std::ptr;

    #[test]
    fn ranks_are_crowded_if_their_processes_may_run_on_fewer_processors() {
        let roomy = Patience { is_crowded: false, communicator: ptr::null() };
        let processors = processors_of(&[id()]).unwrap();
        assert!(processors > 0);
        let crowded = |ranks| {
            let on_this_node = std::iter::repeat_n(id(), ranks);
            roomy.of_processes(&on_this_node.chain([0, 0]).collect::<Vec<_>>()).is_crowded
        };
        assert!(!crowded(processors));
        assert!(crowded(processors + 1));
    }
}
