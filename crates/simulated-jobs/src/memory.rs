//! The memory of ranks. Only the library's temporary memory is aligned to cache lines. The allocator refuses
//! only such memory, because only there the library handles a refusal.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::faults::refuses_memory;

const LINE: usize = 64;

/// The system's allocator, which may refuse.
pub struct RefusingAllocator;

// SAFETY: the system's allocator does everything except refusing.
unsafe impl GlobalAlloc for RefusingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() == LINE && refuses_memory() {
            return ptr::null_mut();
        }
        // SAFETY: by this function's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by this function's contract.
        unsafe { System.dealloc(memory, layout) };
    }
}

/// Number of regions of private pages so far. The library has them for host copies of what lies on a device.
static PRIVATE_PAGES: AtomicUsize = AtomicUsize::new(0);

/// Returns how often this process has mapped private pages.
pub fn private_pages() -> usize {
    PRIVATE_PAGES.load(Relaxed)
}

/// Replaces libc's function in this program, to count private pages.
///
/// # Safety
/// As for libc's function, which has a second name.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    PRIVATE_PAGES.fetch_add(usize::from(flags & libc::MAP_PRIVATE != 0), Relaxed);
    // SAFETY: by this function's contract.
    unsafe { libc::mmap64(address, bytes, access, flags, file, offset) }
}
