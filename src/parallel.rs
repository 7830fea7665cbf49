//! Runs many tasks on all processors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}

/// Carries out tasks on all processors, in their order. Starts no further task once one has failed. Of the
/// tasks that failed, returns the failure of the first one in order.
pub fn for_each<Task: Sync, Failure: Send>(
    tasks: &[Task],
    carry_out: impl Fn(&Task) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    for_each_on(processors(), tasks, carry_out)
}

/// Does [`for_each`] on at most `processors` processors.
pub fn for_each_on<Task: Sync, Failure: Send>(
    processors: usize,
    tasks: &[Task],
    carry_out: impl Fn(&Task) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(BTreeMap::new());
    // Tasks start in their order, and each started task ends. So the first one in order that fails is always found.
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = tasks.get(number) else { return };
        if let Err(failure) = carry_out(task) {
            failures.lock().unwrap_or_else(PoisonError::into_inner).insert(number, failure);
            next.store(tasks.len(), Ordering::Relaxed);
        }
    };
    // The last worker runs on this thread: a machine with only one processor may not have threads.
    thread::scope(|scope| {
        for _ in 1..processors.min(tasks.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.pop_first().map_or(Ok(()), |(_, first)| Err(first))
}

/// Limits what tasks on several processors hold together.
pub struct Room {
    free: Mutex<usize>,
    most: usize,
    freed: Condvar,
}

/// What a task holds until it ends.
struct Held<'room>(&'room Room, usize);

impl Room {
    pub fn new(most: usize) -> Room {
        Room { free: Mutex::new(most), most, freed: Condvar::new() }
    }

    /// Carries out a task that holds so much, as soon as it is free. A task that wants more than all waits for all.
    pub fn hold<Found>(&self, wanted: usize, task: impl FnOnce() -> Found) -> Found {
        let wanted = wanted.min(self.most);
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(free, |free| *free < wanted);
        *free.unwrap_or_else(PoisonError::into_inner) -= wanted;
        let _held = Held(self, wanted);
        task()
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += self.1;
        self.0.freed.notify_all();
    }
}
