//! Many tasks on all processors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many there are.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}

/// Carries out tasks on all processors, in their order. Begins no further one once a task has failed, and returns the failure
/// of the first of those that did.
pub fn for_each<Task: Sync, Failure: Send>(
    tasks: &[Task],
    carry_out: impl Fn(&Task) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    for_each_on(processors(), tasks, carry_out)
}

/// The same on so many of them at most.
pub fn for_each_on<Task: Sync, Failure: Send>(
    processors: usize,
    tasks: &[Task],
    carry_out: impl Fn(&Task) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(BTreeMap::new());
    // Tasks are begun in their order and ended, so the first failure is found whichever is met first.
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = tasks.get(number) else { return };
        if let Err(failure) = carry_out(task) {
            failures.lock().unwrap_or_else(PoisonError::into_inner).insert(number, failure);
            next.store(tasks.len(), Ordering::Relaxed);
        }
    };
    // The last of them on this thread: where there is but one processor, there may be no threads either.
    thread::scope(|scope| {
        for _ in 1..processors.min(tasks.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.pop_first().map_or(Ok(()), |(_, first)| Err(first))
}
