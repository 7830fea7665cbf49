//! The first collectives of a communicator go by messages: memory would cost a communicator with few calls more than it gains.

use crate::mpi::parameters::settings::by_messages;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts the collectives that went by messages though their choice depends on shared memory; all ranks count alike. [`u64::MAX`] once one
/// did not. From then on none does, whatever the parameter says: calls that repeat earlier ones no longer ask.
#[derive(Default)]
pub struct Spared(AtomicU64);

impl Spared {
    /// Whether the next one goes by messages.
    pub fn is_next(&self) -> bool {
        self.0.load(Relaxed) < by_messages()
    }

    /// Counts the next one. Returns whether it goes by messages.
    pub fn count(&self) -> bool {
        let first = by_messages();
        let next = |count| Some(if count < first { count + 1 } else { u64::MAX });
        self.0.fetch_update(Relaxed, Relaxed, next).is_ok_and(|count| count < first)
    }

    /// No other one goes by messages.
    pub fn end(&self) {
        self.0.store(u64::MAX, Relaxed);
    }
}
