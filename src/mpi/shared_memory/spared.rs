//! The first collectives of a communicator send messages, because memory costs a communicator with few calls too much.

use crate::mpi::parameters::settings::by_messages;
use crate::selection::Call;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The sum of the weights of those collectives that sent messages although their choice depends on shared memory; all ranks
/// add the same. [`u64::MAX`] after the first one that did not: no later one does, whatever the parameter says,
/// because repeated calls no longer ask.
#[derive(Debug, Default)]
pub struct Spared(AtomicU64);

/// The bytes for which a longer call weighs 1 more. A short call weighs 1. On two ranks, messages cost a short call 0.25 us
/// more than shared memory, one of 4 KiB 1 us, and one of 16 KiB 3 us.
const BYTES: usize = 4096;

/// The weight of a collective whose length some ranks may not know.
const OTHERS: u64 = 20;

/// The weight of a collective of a communicator on which algorithms are tried, which begins when no collective is spared any
/// more.
const TRIED: u64 = 125;

/// Returns the weight of a collective. `tunes_online`: whether algorithms are tried on its communicator.
pub fn weight(call: &Call, tunes_online: bool) -> u64 {
    match () {
        () if tunes_online => TRIED,
        () if call.is_length_known() => 1 + (call.bytes / BYTES) as u64,
        () => OTHERS,
    }
}

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
    pub fn count(&self, weight: u64) -> bool {
        let most = by_messages();
        let next = |sum: u64| Some(if sum < most { sum.saturating_add(weight) } else { u64::MAX });
        self.0.fetch_update(Relaxed, Relaxed, next).is_ok_and(|sum| sum < most)
    }

    /// Ends the count: no later collective sends messages because of it.
    pub fn end(&self) {
        self.0.store(u64::MAX, Relaxed);
    }
}
