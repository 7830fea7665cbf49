//! Copies of bytes, without a trap of some processors.
//!
//! On AMD's Zen 3 and Zen 4, the instruction `rep movsb` takes up to 25 times as long if the target lies a few bytes behind
//! the source modulo a page. `memcpy` of glibc before 2.39 uses it
//! ([glibc bug 30994](https://sourceware.org/bugzilla/show_bug.cgi?id=30994)), and so does Linux. `malloc` places long
//! buffers 16 bytes behind a page, and long slots of shared memory begin at pages, so most programs would meet this.

use std::ptr;

/// The processors look first at an address modulo this: at its place in a page of 4 KiB.
pub const COMPARED: usize = 4096;

/// Copies bytes. Does nothing if source and target are the same.
///
/// # Safety
/// Source and target are valid for so many bytes, and do not overlap unless they are the same.
#[inline]
pub unsafe fn copy_bytes(from: *const u8, to: *mut u8, bytes: usize) {
    if from == to {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if is_trap(from.addr(), to.addr(), bytes) {
        // SAFETY: by this function's contract.
        return unsafe { copy_in_vectors(from, to, bytes) };
    }
    // SAFETY: by this function's contract.
    unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Whether `rep movsb` may copy slowly between these addresses: the processor takes the target to be in the source.
#[inline]
pub fn is_trap(from: usize, to: usize, bytes: usize) -> bool {
    let behind = to.wrapping_sub(from) % COMPARED;
    cfg!(target_arch = "x86_64") && bytes > 2048 && (1..32).contains(&behind)
}

/// # Safety
/// As for [`copy_bytes`], and source and target differ.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn copy_in_vectors(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};
    const STEP: usize = size_of::<__m128i>();
    let behind = bytes / STEP * STEP;
    // SAFETY: by this function's contract; every processor of this architecture has these instructions.
    unsafe {
        for place in (0..behind).step_by(STEP) {
            _mm_storeu_si128(to.add(place).cast(), _mm_loadu_si128(from.add(place).cast()));
        }
        ptr::copy_nonoverlapping(from.add(behind), to.add(behind), bytes - behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_and_no_other() {
        let source: Vec<u8> = (0..8192).map(|byte| byte as u8 | 1).collect();
        for bytes in [0, 1, 15, 2048, 2049, 4096, 4111] {
            for behind in [0, 1, 16, 63, 64, 2000] {
                let mut target = vec![0; 3 * 4096];
                let base = target.as_mut_ptr();
                let first = source.as_ptr().addr().wrapping_sub(base.addr()) % 4096 + behind;
                // SAFETY: the target has room for all bytes behind the first ones.
                unsafe { copy_bytes(source.as_ptr(), base.add(first), bytes) };
                assert_eq!(target[first..][..bytes], source[..bytes]);
                assert!(target[..first].iter().chain(&target[first + bytes..]).all(|&byte| byte == 0));
            }
        }
    }
}
