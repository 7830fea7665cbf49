//! Host memory for copies of data that lie on a device. A device copies long data several times faster to and from
//! registered memory, so regions that are kept between calls are registered.

use crate::mpi::messages::memory::OutOfMemory;
use crate::mpi::parameters::settings;
use crate::mpi::shim::bindings::{rustcoll_shim_register_host, rustcoll_shim_unregister_host};
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard};

/// Regions that no call uses now.
static FREE: Mutex<Vec<Pages>> = Mutex::new(Vec::new());

/// Bytes from which on registering pays; a device copies fewer bytes as fast without it.
const WORTH_KNOWING: usize = 32 << 10;

/// The memory of a call. On drop it is kept for the next call, if it is not too much.
pub struct HostMemory {
    /// `None` once the memory was leaked.
    region: Option<Pages>,
}

impl HostMemory {
    /// Returns at least `bytes` bytes of undefined content.
    pub fn of(bytes: usize) -> Result<HostMemory, OutOfMemory> {
        let region = if is_kept(bytes) { kept(bytes) } else { Pages::new(bytes) };
        region.map(|region| HostMemory { region: Some(region) })
    }

    /// The first byte; NULL once the memory was leaked.
    pub fn start(&self) -> *mut u8 {
        self.region.as_ref().map_or(null_mut(), |region| region.start.as_ptr())
    }

    /// Gives the memory up for good, because a transfer that cannot be stopped may still use it.
    pub fn leak(&mut self) {
        std::mem::forget(self.region.take());
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Some(mut region) = self.region.take().filter(|region| is_kept(region.bytes)) {
            region.make_known();
            free().push(region);
        }
    }
}

/// Frees the kept regions, before MPI ends.
pub fn release() {
    free().clear();
}

fn free() -> MutexGuard<'static, Vec<Pages>> {
    FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn is_kept(bytes: usize) -> bool {
    bytes <= settings::scratch_kept()
}

/// Takes a kept region of at least `bytes` bytes, or replaces a shorter one by a new one. So no more are kept than
/// calls were in flight at a time. A new region has room for longer calls: registering takes much longer than copying.
fn kept(bytes: usize) -> Result<Pages, OutOfMemory> {
    let fits = |region: &Pages| region.bytes >= bytes;
    let found = {
        let mut free = free();
        let place = free.iter().position(fits).or(free.len().checked_sub(1));
        place.map(|place| free.swap_remove(place))
    };
    match found.filter(fits) {
        Some(region) => Ok(region),
        None => Pages::new(bytes.next_power_of_two().min(settings::scratch_kept())),
    }
}

/// Private pages of this process.
struct Pages {
    start: NonNull<u8>,
    bytes: usize,
    is_known: bool,
}

// SAFETY: the pages belong to the region, and no thread is special to them.
unsafe impl Send for Pages {}

impl Pages {
    fn new(bytes: usize) -> Result<Pages, OutOfMemory> {
        let bytes = bytes.max(1);
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new pages disturb no other memory.
        let start =
            unsafe { libc::mmap(null_mut(), bytes, rights, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        match NonNull::new(start.cast()) {
            Some(pages) if start != libc::MAP_FAILED => Ok(Pages { start: pages, bytes, is_known: false }),
            _ => Err(OutOfMemory),
        }
    }

    /// Registers the pages. Devices know memory by its pages, so a fork must not replace these by copies.
    fn make_known(&mut self) {
        if self.is_known || self.bytes < WORTH_KNOWING {
            return;
        }
        let start = self.start.as_ptr().cast();
        // SAFETY: the pages are the region's, and stay until the devices have forgotten them.
        self.is_known = unsafe {
            libc::madvise(start, self.bytes, libc::MADV_DONTFORK) == 0
                && rustcoll_shim_register_host(start, self.bytes) != 0
        };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast();
        // A device that still knows these pages would copy them instead of later pages at their addresses.
        // SAFETY: the pages are the region's, and nobody uses them any more.
        unsafe {
            if !self.is_known || rustcoll_shim_unregister_host(start) != 0 {
                libc::munmap(start, self.bytes);
            }
        }
    }
}
