//! Temporary memory of a communicator: grows to what its calls need, is reused, and ends with it.

use super::transport::Array;
use crate::mpi::shim::bindings::rustcoll_datatype;
use std::ops::Range;

/// The unit of allocation, so that memory starts on a cache line and suits every datatype.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; LINE as usize]);

const LINE: isize = 64;

/// There is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// A block of memory whose content is lost between calls.
#[derive(Default)]
pub struct Arena(Vec<CacheLine>);

impl Arena {
    /// The start of at least so many bytes, uninitialised.
    #[inline]
    pub fn at_least(&mut self, bytes: usize) -> Result<*mut u8, OutOfMemory> {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        if lines > self.0.capacity() {
            self.grow(lines)?;
        }
        Ok(self.0.as_mut_ptr().cast())
    }

    /// Not in place: nobody needs the old content.
    #[cold]
    fn grow(&mut self, lines: usize) -> Result<(), OutOfMemory> {
        self.0 = Vec::new();
        self.0.try_reserve_exact(lines).map_err(|_| OutOfMemory)
    }

    /// The address of the first of elements that take so much of the memory.
    #[inline]
    pub fn fit(&mut self, extent: Extent) -> Result<*mut u8, OutOfMemory> {
        Ok(self.at_least(extent.bytes)?.wrapping_offset(extent.first))
    }

    /// Bytes that it holds.
    pub fn held(&self) -> usize {
        self.0.capacity() * size_of::<CacheLine>()
    }

    /// Gives everything back.
    pub fn release(&mut self) {
        self.0 = Vec::new();
    }

    /// Gives the memory up for good, because a transfer that cannot be stopped may still use it.
    pub fn leak(&mut self) {
        std::mem::forget(std::mem::take(&mut self.0));
    }
}

/// What elements of a datatype take of memory that starts on a cache line, wherever their data lie relative to their
/// addresses.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Bytes of memory.
    pub bytes: usize,
    /// Where the first element's address is, from the start of the memory.
    first: isize,
}

impl Extent {
    /// That of so many elements.
    pub fn new(elements: usize, datatype: &rustcoll_datatype) -> Extent {
        if elements == 0 {
            return Extent { bytes: 0, first: 0 };
        }
        let (lowest, bytes) = span(elements, datatype);
        Extent { bytes, first: -lowest }
    }

    /// The elements in memory that starts there and has so many bytes.
    pub fn at<'a>(&self, start: *mut u8, datatype: &'a rustcoll_datatype) -> Array<'a> {
        Array { base: start.wrapping_offset(self.first), datatype }
    }
}

/// Bytes of memory that elements of a datatype take.
pub fn bytes_of(elements: usize, datatype: &rustcoll_datatype) -> usize {
    Extent::new(elements, datatype).bytes
}

/// The memory that elements of a datatype, at least one, take at an address.
pub fn reach(address: *mut u8, elements: usize, datatype: &rustcoll_datatype) -> Range<usize> {
    let (lowest, bytes) = span(elements, datatype);
    let start = address.addr().wrapping_add_signed(lowest);
    start..start + bytes
}

/// Where the data of elements, at least one, begin relative to the first one's address, and how many bytes they span.
fn span(elements: usize, datatype: &rustcoll_datatype) -> (isize, usize) {
    let last = (elements - 1) as isize * datatype.extent;
    // Rounded, so that elements are aligned like the memory, wherever in them data begin.
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
