//! Limits how much memory a process's communicators share together, and decides which of them give some back.
//!
//! Each rank gives back its own memory, without messages, when all ranks have ended the stripes in which it was
//! written: then nobody needs the content, and memory that comes back is zero. Flags are never given back.

use super::mapping::Mapping;
use crate::mpi::parameters::settings::shared_memory_limit;
use crate::mpi::shim::bindings::rustcoll_shim_is_threaded;
use std::ops::Range;
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// A lane of a communicator, as the owner of this process's slots in it.
pub struct Tenant {
    mapping: Arc<Mapping>,
    /// Where each rank's part of the lane begins; `None` for those on other nodes.
    starts: Vec<Option<usize>>,
    /// This rank.
    pub rank: usize,
    /// The other ranks of this node.
    pub peers: Vec<usize>,
    /// Where in a lane the slots lie that can be given back.
    data: Range<usize>,
    /// Where in a lane a rank publishes how many stripes it has ended, of short and of long slots.
    ended: [usize; 2],
    /// Bytes of the slots that may have been written since they were last given back.
    held: AtomicUsize,
    last_used: AtomicU64,
    /// Whether a call uses the slots, or another call gives them back.
    is_busy: AtomicBool,
}

/// Whether several threads may call MPI at the same time. A session may allow this later, so each call looks that may
/// give back the memory of another tenant.
static IS_THREADED: AtomicBool = AtomicBool::new(false);

fn look_for_threads() {
    // SAFETY: looks at what MPI was initialised with.
    if unsafe { rustcoll_shim_is_threaded() } != 0 {
        IS_THREADED.store(true, Relaxed);
    }
}

static TENANTS: Mutex<Vec<Weak<Tenant>>> = Mutex::new(Vec::new());

/// Counts uses, roughly: two threads may get the same number.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// Whether memory in use kept the total above the limit when a call last tried to give memory back. The next
/// call tries again.
static IS_TOO_MUCH_IN_USE: AtomicBool = AtomicBool::new(false);

/// From so many bytes of slots on, huge pages pay.
const HUGE: usize = 2 << 20;

impl Tenant {
    /// Returns a new tenant, which holds no memory yet.
    pub fn new(
        mapping: Arc<Mapping>,
        starts: Vec<Option<usize>>,
        rank: usize,
        data: Range<usize>,
        ended: [usize; 2],
    ) -> Arc<Tenant> {
        let peers = (0..starts.len()).filter(|&peer| peer != rank && starts[peer].is_some()).collect();
        let (held, last_used, is_busy) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
        look_for_threads();
        let tenant = Arc::new(Tenant { mapping, starts, rank, peers, data, ended, held, last_used, is_busy });
        let mut tenants = tenants();
        tenants.retain(|other| other.strong_count() > 0);
        tenants.push(Arc::downgrade(&tenant));
        tenant
    }

    /// The number at an offset in a rank's part of the lane.
    #[inline]
    pub fn number(&self, rank: usize, offset: usize) -> &AtomicU64 {
        self.mapping.number(self.starts[rank].expect("schedules name ranks of their own node") + offset)
    }

    /// Where in the mapping this rank's own slots lie that can be given back.
    fn own_data(&self) -> Range<usize> {
        let start = self.starts[self.rank].expect("a rank has its own piece");
        start + self.data.start..start + self.data.end
    }

    /// How many stripes a rank of this node has ended, read at `place` in its lane. Acquire: that rank has
    /// done all reads of these stripes.
    #[inline]
    pub fn ended_by(&self, rank: usize, place: usize) -> u64 {
        self.number(rank, place).load(Acquire)
    }

    /// Starts using the first `bytes` bytes of the slots; waits while another call gives them back.
    #[inline]
    pub fn enter(&self, bytes: usize) {
        while !self.claim() {
            std::hint::spin_loop();
        }
        let now = CLOCK.load(Relaxed) + 1;
        CLOCK.store(now, Relaxed);
        self.last_used.store(now, Relaxed);
        if self.held.load(Relaxed) < bytes || IS_TOO_MUCH_IN_USE.load(Relaxed) {
            self.grow(bytes);
        }
    }

    /// Stops using the slots.
    #[inline]
    pub fn leave(&self) {
        self.is_busy.store(false, Release);
    }

    /// Claims the slots; returns whether they were free. With a single thread, plain loads and stores suffice.
    #[inline]
    fn claim(&self) -> bool {
        if IS_THREADED.load(Relaxed) {
            return self.is_busy.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        }
        let is_free = !self.is_busy.load(Relaxed);
        self.is_busy.store(true, Relaxed);
        is_free
    }

    /// Holds `bytes` bytes. If that exceeds the limit, other tenants give memory back, the least recently used first.
    #[cold]
    fn grow(&self, bytes: usize) {
        look_for_threads();
        self.hold(bytes);
        let mut others: Vec<Arc<Tenant>> = tenants().iter().filter_map(Weak::upgrade).collect();
        let mut held: usize = others.iter().map(|other| other.held.load(Relaxed)).sum();
        others.retain(|other| !std::ptr::eq(&**other, self) && other.held.load(Relaxed) > 0);
        others.sort_by_key(|other| other.last_used.load(Relaxed));
        let mut is_any_in_use = false;
        for other in others {
            if held <= shared_memory_limit() {
                break;
            }
            match other.give_back() {
                Some(given) => held = held.saturating_sub(given),
                None => is_any_in_use = true,
            }
        }
        IS_TOO_MUCH_IN_USE.store(is_any_in_use && held > shared_memory_limit(), Relaxed);
    }

    fn hold(&self, bytes: usize) {
        if self.held.load(Relaxed) >= bytes {
            return;
        }
        let is_huge = bytes >= HUGE;
        if is_huge {
            self.mapping.advise_huge_pages(self.own_data());
        }
        // A huge page holds slots of several banks, used or not.
        self.held.store(if is_huge { self.data.len() } else { bytes }, Relaxed);
    }

    /// Gives the slots back; returns how many bytes. `None`: a call or a peer may still use them.
    fn give_back(&self) -> Option<usize> {
        if !self.claim() {
            return None;
        }
        let ended = |rank| self.ended.map(|place| self.ended_by(rank, place));
        let own = ended(self.rank);
        let is_idle =
            self.peers.iter().map(|&peer| ended(peer)).all(|[short, long]| short >= own[0] && long >= own[1]);
        let given = is_idle.then(|| match self.mapping.give_back(self.own_data()) {
            true => self.held.swap(0, Relaxed),
            false => 0,
        });
        self.leave();
        given
    }
}

fn tenants() -> MutexGuard<'static, Vec<Weak<Tenant>>> {
    TENANTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
