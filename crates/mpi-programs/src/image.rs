//! Buffers that show every byte that should not have been written.

use std::ffi::c_void;
use std::ops::Range;
use std::rc::Rc;

use mpi_sys::MPI_Datatype;

use crate::datatype::{Datatype, Slot};

/// Bytes on either side that nothing may touch.
const GUARD: usize = 64;
const ALIGNMENT: usize = 16;

/// A buffer of elements of one datatype between guards. Guards and gaps are filled with a pattern that depends on the
/// place, so that also a byte copied from elsewhere is seen. Values are numbered through all elements in the order in
/// which they are sent: two buffers of equal signature have equal numbers.
#[derive(Debug)]
pub struct Image {
    datatype: Rc<Datatype>,
    count: usize,
    storage: Vec<u8>,
    start: usize,
    length: usize,
    origin: usize,
}

impl Image {
    /// A buffer of `count` elements. Buffers with the same pattern, datatype and count are equal.
    pub fn new(datatype: &Rc<Datatype>, count: usize, pattern: u8) -> Self {
        let span = datatype.layout().span(count);
        let below = (GUARD + span.start.unsigned_abs()).next_multiple_of(ALIGNMENT);
        let length = below + span.end.unsigned_abs() + GUARD;
        let mut storage = vec![0; length + ALIGNMENT];
        let start = storage.as_ptr().align_offset(ALIGNMENT);
        for (place, byte) in storage[start..start + length].iter_mut().enumerate() {
            *byte = filler(place) ^ pattern;
        }
        Image { datatype: datatype.clone(), count, storage, start, length, origin: start + below }
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The datatype's handle.
    pub fn datatype(&self) -> MPI_Datatype {
        self.datatype.handle()
    }

    /// Number of values in an element.
    pub fn width(&self) -> usize {
        self.datatype.layout().slots.len()
    }

    /// Number of values.
    pub fn values(&self) -> usize {
        self.count * self.width()
    }

    /// What MPI is given to read from.
    pub fn address(&self) -> *const c_void {
        self.storage.as_ptr().wrapping_add(self.origin).cast()
    }

    /// What MPI is given to write to.
    pub fn address_mut(&mut self) -> *mut c_void {
        self.storage.as_mut_ptr().wrapping_add(self.origin).cast()
    }

    /// Writes a value.
    pub fn set(&mut self, position: usize, value: i64) {
        let range = self.range(position);
        let bytes = self.slot(position).scalar.encode(value);
        self.storage[range.clone()].copy_from_slice(&bytes[..range.len()]);
    }

    /// Reads a value.
    pub fn get(&self, position: usize) -> f64 {
        self.slot(position).scalar.decode(self.value_bytes(position))
    }

    fn value_bytes(&self, position: usize) -> &[u8] {
        &self.storage[self.range(position)]
    }

    fn slot(&self, position: usize) -> Slot {
        self.datatype.layout().slots[position % self.width()]
    }

    /// Where a value lies in the storage.
    fn range(&self, position: usize) -> Range<usize> {
        let slot = self.slot(position);
        let element = (position / self.width()) as isize;
        let distance = element * self.datatype.layout().extent + slot.offset;
        let start = self.origin.checked_add_signed(distance).expect("values lie within the buffer");
        start..start + slot.scalar.bytes()
    }

    /// The elements with gaps and guards.
    pub fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.length]
    }

    /// The first value that is not as expected, in words. For buffers that are too large for a copy.
    pub fn first_other(&self, expected: impl Fn(usize) -> i64) -> Option<String> {
        let position =
            (0..self.values()).find(|&position| self.get(position) != expected(position) as f64)?;
        let (got, expected) = (self.get(position), expected(position));
        Some(format!("value {position} of {}: got {got}, expected {expected}", self.values()))
    }

    /// The first difference, in words.
    pub fn difference(&self, expected: &Image) -> Option<String> {
        if self.bytes() == expected.bytes() {
            return None;
        }
        let wrong: Vec<usize> = (0..self.values())
            .filter(|&position| self.value_bytes(position) != expected.value_bytes(position))
            .collect();
        Some(match wrong.first() {
            Some(&position) => format!(
                "element {}, value {}: got {}, expected {} ({} of {} values are wrong)",
                position / self.width(),
                position % self.width(),
                self.get(position),
                expected.get(position),
                wrong.len(),
                self.values()
            ),
            None => self.overwritten(expected.bytes()),
        })
    }

    /// Says which bytes differ from an earlier state.
    pub fn overwritten(&self, before: &[u8]) -> String {
        let differs = |place: &usize| self.bytes()[*place] != before[*place];
        let places: Vec<usize> = (0..self.length).filter(differs).collect();
        let Some(first) = places.first().map(|place| place + self.start) else {
            return "no byte was overwritten".into();
        };
        let distance = first as isize - self.origin as isize;
        let region = if (0..self.values()).any(|position| self.range(position).contains(&first)) {
            "a value"
        } else if self.datatype.layout().span(self.count).contains(&distance) {
            "a gap"
        } else {
            "the guard"
        };
        format!("{} bytes were overwritten, the first at {distance} in {region}", places.len())
    }
}

fn filler(place: usize) -> u8 {
    ((place as u32).wrapping_mul(0x9e37_79b1) >> 20) as u8
}
