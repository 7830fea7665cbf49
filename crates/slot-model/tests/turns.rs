//! Tests the protocol of slots with loom: all interleavings with up to two preemptions, and all reorderings
//! that the memory model allows. A writer and readers go through more stripes than there are banks. The
//! memory order of each atomic access is necessary: with a weaker one, loom finds a data race on a slot.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, Ordering, Ordering::*};
use loom::thread;
use rustcoll::engine::turns::Turns;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

const BANKS: usize = 2;

/// How often a thread polls before it gives up. The limit makes every interleaving end.
const LOOKS: usize = 2;

/// The memory orders of the accesses to flags and to the numbers of ended stripes.
#[derive(Clone, Copy)]
struct Orders {
    raise: Ordering,
    see_raised: Ordering,
    end: Ordering,
    see_ended: Ordering,
}

/// The memory orders that the component uses.
const ORDERS: Orders = Orders { raise: Release, see_raised: Acquire, end: Release, see_ended: Acquire };

/// A slot of one bank, with its flag.
struct Slot {
    flag: AtomicU64,
    content: UnsafeCell<u64>,
}

/// The memory that a writer shares with its readers.
struct SharedBanks {
    banks: [Slot; BANKS],
    ended: Vec<AtomicU64>,
    orders: Orders,
}

// SAFETY: loom fails if two accesses to a slot's content are not ordered.
unsafe impl Send for SharedBanks {}

// SAFETY: as above.
unsafe impl Sync for SharedBanks {}

impl SharedBanks {
    fn new(readers: usize, orders: Orders) -> Self {
        let slot = |_| Slot { flag: AtomicU64::new(0), content: UnsafeCell::new(0) };
        let ended = (0..readers).map(|_| AtomicU64::new(0)).collect();
        SharedBanks { banks: [0, 1].map(slot), ended, orders }
    }

    /// Writes the number of each stripe into its slot, until a wait gives up.
    fn write(&self, stripes: u64) {
        let mut turns = Turns::new(BANKS);
        for stripe in 1..=stripes {
            if !comes_true(|| turns.may_write(|| self.least_ended())) {
                return;
            }
            let Slot { flag, content } = &self.banks[turns.bank()];
            content.with_mut(|content| {
                // SAFETY: as above.
                unsafe { *content = stripe }
            });
            flag.store(turns.raised(flag.load(Relaxed)), self.orders.raise);
            turns.end();
        }
    }

    fn least_ended(&self) -> u64 {
        self.ended.iter().map(|ended| ended.load(self.orders.see_ended)).min().expect("there are readers")
    }

    /// Reads and checks the number of each stripe, until a wait gives up. Returns whether it has read all.
    fn read(&self, reader: usize, stripes: u64) -> bool {
        let mut turns = Turns::new(BANKS);
        for stripe in 1..=stripes {
            let Slot { flag, content } = &self.banks[turns.bank()];
            if !comes_true(|| flag.load(self.orders.see_raised) >= turns.flag_value(1)) {
                return false;
            }
            content.with(|content| {
                // SAFETY: as above.
                assert_eq!(unsafe { *content }, stripe);
            });
            self.ended[reader].store(turns.end(), self.orders.end);
        }
        true
    }
}

fn comes_true(mut condition: impl FnMut() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        let is_true = condition();
        if !is_true {
            thread::yield_now();
        }
        is_true
    })
}

/// Runs the protocol in all interleavings. Returns in how many of them every reader has read all stripes.
fn explore(readers: usize, stripes: u64, orders: Orders) -> usize {
    let complete = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&complete);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let memory = Arc::new(SharedBanks::new(readers, orders));
        let reading: Vec<_> = (0..readers)
            .map(|reader| {
                let memory = Arc::clone(&memory);
                thread::spawn(move || memory.read(reader, stripes))
            })
            .collect();
        memory.write(stripes);
        let got_all = reading.into_iter().map(|reader| reader.join().unwrap());
        // `fold` joins every reader; `all` would stop at the first that gave up.
        if got_all.fold(true, |all, one| all & one) {
            counted.fetch_add(1, Relaxed);
        }
    });
    complete.load(Relaxed)
}

fn races(orders: Orders) -> bool {
    let explored = catch_unwind(AssertUnwindSafe(|| explore(1, BANKS as u64 + 1, orders)));
    let Err(panic) = explored else { return false };
    let said = panic.downcast::<String>().expect("loom says what it has found");
    assert!(said.contains("Causality violation"), "{said}");
    true
}

#[test]
fn a_reader_gets_each_stripe() {
    assert!(explore(1, 2 * BANKS as u64 + 1, ORDERS) > 0);
}

#[test]
fn several_readers_get_each_stripe() {
    assert!(explore(2, BANKS as u64 + 1, ORDERS) > 0);
}

#[test]
fn each_order_is_necessary() {
    assert!(!races(ORDERS));
    assert!(races(Orders { raise: Relaxed, ..ORDERS }), "raising a flag");
    assert!(races(Orders { see_raised: Relaxed, ..ORDERS }), "seeing a flag");
    assert!(races(Orders { end: Relaxed, ..ORDERS }), "ending a stripe");
    assert!(races(Orders { see_ended: Relaxed, ..ORDERS }), "seeing a stripe ended");
}
