//! The memory of ranks. The library's temporary memory is aligned to cache lines, and nothing else is: that alone may be refused, for
//! that alone the library asks without taking it for granted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

use crate::faults::refuses_memory;

const LINE: usize = 64;

/// Memory of the system, as far as it is not refused.
pub struct Memory;

// SAFETY: the system's allocator does all but refuse.
unsafe impl GlobalAlloc for Memory {
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
