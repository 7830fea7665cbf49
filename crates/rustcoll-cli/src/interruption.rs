//! Signals that ask the command to end, as Ctrl-C.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, TERM_SIGNALS};
use signal_hook::flag;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The signal that asked the command to end, or 0. Some programs send the same signal twice, so a second one means
/// nothing new. A job that is asked to end is gone after some seconds anyway.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Starts to listen for signals. From then on they end jobs, and the command when it asks [`check`].
pub fn listen() -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    // `nohup` lets the command go on after its terminal is gone.
    let of_terminal = (!ignores(&status, SIGHUP)).then_some(&SIGHUP);
    TERM_SIGNALS
        .iter()
        .chain(of_terminal)
        .try_for_each(|&number| flag::register_usize(number, Arc::clone(&SIGNAL), number as usize).map(drop))
}

/// Whether a process ignores a signal, by its status in `/proc`.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signals_that_a_process_ignores_are_in_its_status() {
        let status = "Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n";
        assert_eq!([1, 2, 13].map(|signal| ignores(status, signal)), [true, false, true]);
        assert!(!ignores("", 1));
    }
}
