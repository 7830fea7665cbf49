//! Memory of the host for copies of what lies on a device. A device copies long data several times faster to and from memory that it knows,
//! so what is kept between calls is made known to it.

use crate::mpi::messages::memory::OutOfMemory;
use crate::mpi::parameters::settings;
use crate::mpi::shim::bindings::{rustcoll_shim_register_host, rustcoll_shim_unregister_host};
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard};

/// Memory that no call uses now.
static FREE: Mutex<Vec<Region>> = Mutex::new(Vec::new());

/// Fewer bytes are copied as fast if the device does not know the memory.
const WORTH_KNOWING: usize = 32 << 10;

/// The memory of a call. It is kept for the next one, if it is not too much.
pub struct HostMemory {
    /// None once it is given up.
    region: Option<Region>,
}

impl HostMemory {
    /// At least so many bytes, with any content.
    pub fn of(bytes: usize) -> Result<HostMemory, OutOfMemory> {
        let region = if is_kept(bytes) { kept(bytes) } else { Region::new(bytes) };
        region.map(|region| HostMemory { region: Some(region) })
    }

    /// Its first byte.
    pub fn start(&self) -> *mut u8 {
        self.region.as_ref().map_or(null_mut(), |region| region.start.as_ptr())
    }

    /// Gives it up for good, because a transfer that cannot be stopped may still use it.
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

/// Gives back what is kept; MPI is about to end.
pub fn release() {
    free().clear();
}

fn free() -> MutexGuard<'static, Vec<Region>> {
    FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn is_kept(bytes: usize) -> bool {
    bytes <= settings::scratch_kept()
}

/// What was kept and has so many bytes. A new region takes the place of one that is too small, so no more regions are kept than calls were in
/// flight at a time. It has room for calls that are a little longer: to make memory known takes much longer than to copy it.
fn kept(bytes: usize) -> Result<Region, OutOfMemory> {
    let fits = |region: &Region| region.bytes >= bytes;
    let found = {
        let mut free = free();
        let place = free.iter().position(fits).or(free.len().checked_sub(1));
        place.map(|place| free.swap_remove(place))
    };
    match found.filter(fits) {
        Some(region) => Ok(region),
        None => Region::new(bytes.next_power_of_two().min(settings::scratch_kept())),
    }
}

/// Pages of this process alone.
struct Region {
    start: NonNull<u8>,
    bytes: usize,
    is_known: bool,
}

// SAFETY: the pages belong to the region, and no thread is special to them.
unsafe impl Send for Region {}

impl Region {
    fn new(bytes: usize) -> Result<Region, OutOfMemory> {
        let bytes = bytes.max(1);
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new pages disturb no other memory.
        let start =
            unsafe { libc::mmap(null_mut(), bytes, rights, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        match NonNull::new(start.cast()) {
            Some(pages) if start != libc::MAP_FAILED => Ok(Region { start: pages, bytes, is_known: false }),
            _ => Err(OutOfMemory),
        }
    }

    /// Devices know memory by its pages; a child process must not make this process's pages others than they know.
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

impl Drop for Region {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast();
        // A device that still knows these pages would copy them instead of those that come to stand at their addresses.
        // SAFETY: the pages are the region's, and nobody uses them any more.
        unsafe {
            if !self.is_known || rustcoll_shim_unregister_host(start) != 0 {
                libc::munmap(start, self.bytes);
            }
        }
    }
}
