//! Memory for mock-ups (algorithms that call other collectives), allocated once at its greatest size and reused.

use super::memory::{Arena, OutOfMemory};
use crate::mpi::parameters::settings::mock_up_limits;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard};

/// The memory that no call uses now. A communicator has one mock-up call at a time, but other threads, and
/// other components' private communicators, may have theirs. Calls do not wait for each other, because other
/// ranks may make them in another order.
static FREE: Mutex<Vec<Reused>> = Mutex::new(Vec::new());

fn free() -> MutexGuard<'static, Vec<Reused>> {
    FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[derive(Default)]
struct Reused {
    data: Arena,
    numbers: Arena,
}

/// The memory of one call.
pub struct Room {
    reused: Reused,
    /// Holds data longer than the limit, which ignores gaps between elements because not all ranks know them.
    oversized: Arena,
    /// Start of the data, on a cache line; null if there are none.
    pub data: *mut u8,
    /// Start of the counts and displacements; null if there are none.
    pub numbers: *mut c_int,
}

impl Room {
    /// Obtains memory for so many bytes of data, and for so many counts and displacements.
    pub fn new(bytes: usize, numbers: usize) -> Result<Room, OutOfMemory> {
        let most = mock_up_limits();
        let mut reused = free().pop().unwrap_or_default();
        let mut oversized = Arena::default();
        let data = match bytes > most.message {
            true => oversized.at_least(bytes)?,
            false => at_once(&mut reused.data, bytes, most.message)?,
        };
        let numbers = at_once(&mut reused.numbers, numbers * size_of::<c_int>(), most.numbers)?;
        Ok(Room { reused, oversized, data, numbers: numbers.cast() })
    }

    /// Never frees the data's memory: messages of an abandoned call may still arrive there.
    pub fn leak(&mut self) {
        self.oversized.leak();
        self.reused.data.leak();
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        free().push(std::mem::take(&mut self.reused));
    }
}

/// Returns the start of at least `bytes` bytes; allocates `most` if it can, because unused memory costs nothing.
fn at_once(memory: &mut Arena, bytes: usize, most: usize) -> Result<*mut u8, OutOfMemory> {
    match bytes {
        0 => Ok(std::ptr::null_mut()),
        // The memory held may be less than the limit, if the system could not provide more.
        _ if bytes <= memory.held() => memory.at_least(bytes),
        _ => memory.at_least(most.max(bytes)).or_else(|_| memory.at_least(bytes)),
    }
}

/// Frees the memory that is kept, before MPI ends.
pub fn release() {
    free().clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_kept_and_what_is_under_way_has_its_own() {
        let first = Room::new(1000, 10).unwrap();
        let second = Room::new(1000, 0).unwrap();
        assert_ne!(first.data, second.data);
        assert!(second.numbers.is_null());
        let start = first.data;
        drop(first);
        assert_eq!(Room::new(99_999_999, 10).unwrap().data, start);
        let beyond = Room::new(100_000_001, 0).unwrap();
        assert!(beyond.oversized.held() > 100_000_000);
    }
}
