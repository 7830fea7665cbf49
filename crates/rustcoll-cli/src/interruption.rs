//! Signals that ask the command to end, as Ctrl-C.

use crate::failure::Failure;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The signal that asked the command to end, or 0. Some programs send the same signal twice, so a second one means
/// nothing new. A job that is asked to end is gone after some seconds anyway.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Starts to listen for signals. From then on they end jobs, and the command when it asks [`check`].
pub fn listen() -> io::Result<()> {
    TERM_SIGNALS
        .iter()
        .try_for_each(|&number| flag::register_usize(number, Arc::clone(&SIGNAL), number as usize).map(drop))
}

/// Whether a signal came.
pub fn is_here() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0
}

/// Fails if a signal came. `then` says where the results are, or how to continue.
pub fn check(then: impl FnOnce() -> String) -> Result<(), Failure> {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => Ok(()),
        signal => {
            Err(Failure::Interrupted { signal: signal as u8, message: format!("interrupted; {}", then()) })
        }
    }
}
