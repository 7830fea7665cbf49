//! Ctrl-C, and whoever else asks the command to end.

use super::record::GOES_ON;
use crate::failure::Failure;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether the command was asked to end. Some send the same signal twice, so that the second one says nothing new; a job that is
/// ended is gone after some seconds anyway.
#[derive(Clone, Debug)]
pub struct Interruption {
    signal: Arc<AtomicUsize>,
}

impl Interruption {
    /// Listens from now on.
    pub fn listen() -> io::Result<Interruption> {
        let signal = Arc::new(AtomicUsize::new(0));
        for &number in TERM_SIGNALS {
            flag::register_usize(number, Arc::clone(&signal), number as usize)?;
        }
        Ok(Interruption { signal })
    }

    /// Whether it was.
    pub fn is_here(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// Fails if it was, with what to do to go on.
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
