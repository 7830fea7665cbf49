//! The first collectives of a communicator send messages, because memory costs a communicator with few calls too much.

use crate::mpi::parameters::settings::by_messages;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts the collectives that sent messages although their choice depends on shared memory; all ranks count
/// alike. [`u64::MAX`] after the first one that did not: no later one does, whatever the parameter says,
/// because repeated calls no longer ask.
#[derive(Default)]
pub struct Spared(AtomicU64);

impl Spared {
    /// Whether counting changes nothing any more.
    pub fn is_over(&self) -> bool {
        self.0.load(Relaxed) == u64::MAX
    }

    /// Whether the next one sends messages.
    pub fn is_next(&self) -> bool {
        self.0.load(Relaxed) < by_messages()
    }

    /// Counts the next one. Returns whether it sends messages.
    pub fn count(&self) -> bool {
        let first = by_messages();
        let next = |count| Some(if count < first { count + 1 } else { u64::MAX });
        self.0.fetch_update(Relaxed, Relaxed, next).is_ok_and(|count| count < first)
    }

    /// Ends the count: no later collective sends messages because of it.
    pub fn end(&self) {
        self.0.store(u64::MAX, Relaxed);
    }
}
