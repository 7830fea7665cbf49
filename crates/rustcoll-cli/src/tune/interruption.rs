//! Signals that ask the command to end, as Ctrl-C.

use super::record::GOES_ON;
use crate::failure::Failure;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether a signal asked the command to end. Some programs send the same signal twice, so a second one means
/// nothing new. A job that is asked to end is gone after some seconds anyway.
#[derive(Clone, Debug)]
pub struct Interruption {
    signal: Arc<AtomicUsize>,
}

impl Interruption {
    /// Starts to listen for signals.
    pub fn listen() -> io::Result<Interruption> {
        let signal = Arc::new(AtomicUsize::new(0));
        for &number in TERM_SIGNALS {
            flag::register_usize(number, Arc::clone(&signal), number as usize)?;
        }
        Ok(Interruption { signal })
    }

    /// Whether a signal came.
    pub fn is_here(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// Fails if a signal came. The error says how to continue.
    pub fn check(&self, folder: &Path) -> Result<(), Failure> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(Failure::Interrupted {
                signal: signal as u8,
                message: format!(
                    "interrupted; all that was measured is in {}, and {GOES_ON}",
                    folder.display()
                ),
            }),
        }
    }
}
