//! The memory of ranks. Only the library's temporary memory is aligned to cache lines. The allocator refuses
//! only such memory, because only there the library handles a refusal.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

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
