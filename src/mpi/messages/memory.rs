//! Temporary memory of a communicator. It grows to what calls need, later calls reuse it, and it is freed
//! with the communicator.

use super::transport::Array;
use crate::mpi::shim::bindings::rustcoll_datatype;
use std::ops::Range;

/// The unit of allocation. It aligns memory to a cache line, which suits every datatype.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; LINE as usize]);

const LINE: isize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// A block of memory whose content is lost between calls.
#[derive(Default)]
pub struct Arena(Vec<CacheLine>);

impl Arena {
    /// Returns the start of at least `bytes` bytes, uninitialised.
    #[inline]
    pub fn at_least(&mut self, bytes: usize) -> Result<*mut u8, OutOfMemory> {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        if lines > self.0.capacity() {
            self.grow(lines)?;
        }
        Ok(self.0.as_mut_ptr().cast())
    }

    /// Frees the old memory first, because nobody needs its content.
    #[cold]
    fn grow(&mut self, lines: usize) -> Result<(), OutOfMemory> {
        self.0 = Vec::new();
        self.0.try_reserve_exact(lines).map_err(|_| OutOfMemory)
    }

    /// Returns the address of the first element, in memory of that extent.
    #[inline]
    pub fn fit(&mut self, extent: Extent) -> Result<*mut u8, OutOfMemory> {
        Ok(self.at_least(extent.bytes)?.wrapping_offset(extent.first))
    }

    /// Bytes that the arena holds.
    pub fn held(&self) -> usize {
        self.0.capacity() * size_of::<CacheLine>()
    }

    /// Frees the memory.
    pub fn release(&mut self) {
        self.0 = Vec::new();
    }

    /// Never frees the memory, because a transfer that cannot be stopped may still use it.
    pub fn leak(&mut self) {
        std::mem::forget(std::mem::take(&mut self.0));
    }
}

/// The memory that elements of a datatype need. It starts on a cache line, and the elements' data may begin
/// before or after their addresses.
#[derive(Clone, Copy)]
pub struct Extent {
    pub bytes: usize,
    /// Bytes from the start of the memory to the first element's address.
    first: isize,
}

impl Extent {
    pub fn new(elements: usize, datatype: &rustcoll_datatype) -> Extent {
        if elements == 0 {
            return Extent { bytes: 0, first: 0 };
        }
        let (lowest, bytes) = span(elements, datatype);
        Extent { bytes, first: -lowest }
    }

    /// Returns the elements in memory of this extent that begins at `start`.
    pub fn at<'a>(&self, start: *mut u8, datatype: &'a rustcoll_datatype) -> Array<'a> {
        Array { base: start.wrapping_offset(self.first), datatype }
    }
}

/// Returns how many bytes of memory elements of a datatype need.
pub fn bytes_of(elements: usize, datatype: &rustcoll_datatype) -> usize {
    Extent::new(elements, datatype).bytes
}

/// Returns the addresses that elements of a datatype, at least one, occupy. The range begins at a multiple of
/// `LINE` from the first element's address.
pub fn reach(address: *mut u8, elements: usize, datatype: &rustcoll_datatype) -> Range<usize> {
    let (lowest, bytes) = span(elements, datatype);
    let start = address.addr().wrapping_add_signed(lowest);
    start..start + bytes
}

/// Returns where the data of elements, at least one, begin relative to the first one's address, rounded down
/// to a multiple of `LINE`, and how many bytes they span from there.
fn span(elements: usize, datatype: &rustcoll_datatype) -> (isize, usize) {
    let last = (elements - 1) as isize * datatype.extent;
    // Rounded down, so that elements are aligned like the memory, wherever their data begin.
    let lowest = (last.min(0) + datatype.true_lb).div_euclid(LINE) * LINE;
    let highest = last.max(0) + datatype.true_lb;
    (lowest, (highest - lowest) as usize + datatype.true_extent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reused() {
        let mut memory = Arena::default();
        let first = memory.at_least(1000).unwrap();
        assert_eq!(memory.at_least(10).unwrap(), first);
        assert_eq!(first as usize % 64, 0);
    }

    #[test]
    fn too_much_is_refused() {
        let mut memory = Arena::default();
        assert_eq!(memory.at_least(usize::MAX / 2), Err(OutOfMemory));
        assert_eq!(memory.held(), 0);
        assert!(memory.at_least(10).is_ok());
    }

    #[test]
    fn what_is_held_is_given_back() {
        let mut memory = Arena::default();
        memory.at_least(1000).unwrap();
        assert!((1000..1000 + 64).contains(&memory.held()));
        memory.release();
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn elements_span_what_lies_between_them() {
        let datatype = |extent, true_lb| rustcoll_datatype {
            handle: std::ptr::null(),
            size: 8,
            extent,
            true_lb,
            true_extent: 8,
            contiguous: 0,
        };
        assert_eq!(bytes_of(0, &datatype(8, 0)), 0);
        assert_eq!(bytes_of(3, &datatype(100, 0)), 208);
        assert_eq!(bytes_of((1 << 31) + 1, &datatype(100, 0)), (100 << 31) + 8);
        // The first byte of data lies 208 bytes before the address, the memory starts at a multiple of 64.
        assert_eq!(bytes_of(3, &datatype(-100, -8)), 256);
    }
}
