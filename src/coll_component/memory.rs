//! Temporary memory of a communicator: grows to what its calls need, is reused, and ends with it.

use super::bindings::rustcoll_datatype;
use super::pml::Place;

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
pub struct Memory(Vec<CacheLine>);

impl Memory {
    /// The start of at least so many bytes, uninitialised.
    pub fn at_least(&mut self, bytes: usize) -> Result<*mut u8, OutOfMemory> {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        if lines > self.0.capacity() {
            // Not grown in place: nobody needs the old content.
            self.0 = Vec::new();
            self.0.try_reserve_exact(lines).map_err(|_| OutOfMemory)?;
        }
        Ok(self.0.as_mut_ptr().cast())
    }

    /// Room for elements of a datatype, wherever their data lies relative to their address.
    pub fn place<'a>(
        &mut self,
        elements: usize,
        datatype: &'a rustcoll_datatype,
    ) -> Result<Place<'a>, OutOfMemory> {
        if elements == 0 {
            return Ok(Place { base: std::ptr::null_mut(), datatype });
        }
        let last = (elements - 1) as isize * datatype.extent;
        // Rounded, so that elements are aligned like the memory, wherever in them data begin.
        let lowest = (last.min(0) + datatype.true_lb).div_euclid(LINE) * LINE;
        let highest = last.max(0) + datatype.true_lb;
        let span = (highest - lowest) as usize + datatype.true_extent;
        Ok(Place { base: self.at_least(span)?.wrapping_offset(-lowest), datatype })
    }

    /// Gives the memory up for good, because a transfer that cannot be stopped may still use it.
    pub fn leak(&mut self) {
        std::mem::forget(std::mem::take(&mut self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reused() {
        let mut memory = Memory::default();
        let first = memory.at_least(1000).unwrap();
        assert_eq!(memory.at_least(10).unwrap(), first);
        assert_eq!(first as usize % 64, 0);
    }

    #[test]
    fn too_much_is_refused() {
        assert_eq!(Memory::default().at_least(usize::MAX / 2), Err(OutOfMemory));
    }
}
