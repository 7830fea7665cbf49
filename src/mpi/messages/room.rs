//! Memory for calls that call others: allocated once, as much as there may be, and kept for the next one that needs any.

use super::memory::{Arena, OutOfMemory};
use crate::mpi::parameters::settings::mock_up_limits;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard};

/// What no call uses now. There are as many as calls have been under way at a time: on this communicator one, but other
/// threads, and communicators that components keep of their own, may have theirs at the same time. They do not wait for each other, for on other ranks they may come in another order.
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
    /// For data that are longer than the limit: what elements have of gaps does not count there, for not all ranks know it.
    oversized: Arena,
    /// Where data begin, on a cache line.
    pub data: *mut u8,
    /// Where counts and displacements begin.
    pub numbers: *mut c_int,
}

impl Room {
    /// Room for so many bytes of data, and so many counts and displacements.
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

    /// Gives the memory up for good: what was given up may still arrive.
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

/// The start of at least so many bytes, with as many as there may be if there are so many: what is not used costs nothing.
fn at_once(memory: &mut Arena, bytes: usize, most: usize) -> Result<*mut u8, OutOfMemory> {
    match bytes {
        0 => Ok(std::ptr::null_mut()),
        // What there is may be less than the limit, where so much could not be had.
        _ if bytes <= memory.held() => memory.at_least(bytes),
        _ => memory.at_least(most.max(bytes)).or_else(|_| memory.at_least(bytes)),
    }
}

/// Gives back what is kept; MPI is about to end.
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
