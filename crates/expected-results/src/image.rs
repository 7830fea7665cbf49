//! Buffers with guards that reveal every byte written outside the values.

use std::ffi::{c_int, c_void};
use std::fmt::Debug;
use std::hint::black_box;
use std::ops::Range;
use std::rc::Rc;

use rustcoll::engine::CACHE_LINE;

use crate::layout::{BasicValue, Layout, Scalar};
use crate::storage::{OtherMemory, Storage};

/// Bytes of the guard on either side of a buffer; no call may touch them.
const GUARD: usize = 64;
const ALIGNMENT: usize = 16;
/// A buffer of at least this many bytes begins [`ALIGNMENT`] behind a page, where `malloc` places long ones: some
/// processors copy much slower from there and to there.
const LONG: usize = 32 << 10;
const PAGE: usize = 4096;
/// A buffer of at least this many bytes is large.
const LARGE: usize = 1 << 30;
/// Elements left out between two blocks that have displacements: so many that no block begins a few bytes behind another one,
/// modulo a page, where some processors copy much slower.
const GAP: usize = 32;

/// A datatype of an MPI library, with the layout of its elements.
pub trait Datatype: Debug {
    /// The handle that MPI functions take.
    type Handle: Copy + Debug;

    fn layout(&self) -> &Layout;

    fn handle(&self) -> Self::Handle;
}

impl<D: Datatype> Datatype for Rc<D> {
    type Handle = D::Handle;

    fn layout(&self) -> &Layout {
        D::layout(self)
    }

    fn handle(&self) -> D::Handle {
        D::handle(self)
    }
}

/// A number of elements of one datatype.
#[derive(Clone, Debug)]
pub struct Elements<D> {
    pub datatype: D,
    pub count: usize,
}

impl<D: Datatype> Elements<D> {
    fn width(&self) -> usize {
        self.datatype.layout().slots.len()
    }

    /// Returns the number of basic values.
    pub fn values(&self) -> usize {
        self.count * self.width()
    }

    /// Returns the distance in bytes of a value from the first element's address, and its type.
    fn place(&self, value: usize) -> (isize, Scalar) {
        let Layout { slots, extent, .. } = self.datatype.layout();
        // A division takes longer than all the rest, so large buffers of single values avoid it.
        let (element, slot) =
            if slots.len() == 1 { (value, 0) } else { (value / slots.len(), value % slots.len()) };
        let BasicValue { offset, scalar } = slots[slot];
        (element as isize * extent + offset, scalar)
    }

    fn span(&self) -> Range<isize> {
        self.datatype.layout().span(self.count)
    }
}

/// Where the blocks of a buffer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// One after another, all with the same datatype.
    Adjacent,
    /// With gaps and in descending order, at multiples of the extent, all with the same datatype.
    ByElement,
    /// With gaps and in descending order, each with its own datatype.
    ByByte,
}

impl Placement {
    fn displacements(self, blocks: &[Elements<impl Datatype>]) -> Vec<c_int> {
        // The distances of the blocks from the buffer's address, in units of [`Placement::unit`].
        let mut displacements = vec![0; blocks.len()];
        let mut end = 0;
        for place in 0..blocks.len() {
            let index = if self == Placement::Adjacent { place } else { blocks.len() - 1 - place };
            let block = &blocks[index];
            let start = match self {
                Placement::Adjacent => end,
                Placement::ByElement => end + GAP,
                Placement::ByByte => (end + block.span().start.unsigned_abs()).next_multiple_of(ALIGNMENT),
            };
            displacements[index] = c_int::try_from(start).expect("MPI can be told of the displacement");
            end = match self {
                Placement::ByByte => start + block.span().end.unsigned_abs() + GAP * ALIGNMENT,
                _ => start + block.count,
            };
        }
        displacements
    }

    /// Returns the unit of this block's displacement, in bytes.
    fn unit(self, block: &Elements<impl Datatype>) -> isize {
        if self == Placement::ByByte { 1 } else { block.datatype.layout().extent }
    }
}

/// A receiver of a buffer's values with their positions: the buffer itself, or a comparison with it.
pub trait Values {
    type Datatype: Datatype + Clone;

    fn image(&self) -> &Image<Self::Datatype>;

    /// Stores or compares the value at a position.
    fn take(&mut self, position: usize, value: i64);
}

impl<D: Datatype + Clone> Values for Image<D> {
    type Datatype = D;

    fn image(&self) -> &Image<D> {
        self
    }

    fn take(&mut self, position: usize, value: i64) {
        self.set(position, value);
    }
}

/// Compares expected values with those of a buffer. It serves buffers that are too large for a copy.
#[derive(Debug)]
pub struct Comparison<'a, D: Datatype> {
    image: &'a Image<D>,
    /// The first wrong value: its position and the expected value.
    other: Option<(usize, i64)>,
}

impl<'a, D: Datatype + Clone> Comparison<'a, D> {
    pub fn with(image: &'a Image<D>) -> Self {
        Comparison { image, other: None }
    }

    /// Describes the first value that differs from the expected one.
    pub fn difference(&self) -> Option<String> {
        let (position, expected) = self.other?;
        let (got, values) = (self.image.get(position), self.image.values());
        Some(format!("value {position} of {values}: got {got}, expected {expected}"))
    }
}

impl<D: Datatype + Clone> Values for Comparison<'_, D> {
    type Datatype = D;

    fn image(&self) -> &Image<D> {
        self.image
    }

    fn take(&mut self, position: usize, value: i64) {
        if self.other.is_none() && !self.image.holds(position, value) {
            self.other = Some((position, value));
        }
    }
}

/// A buffer of blocks of elements between guards. The pattern in guards and gaps depends on the place, so
/// that a byte copied from another place is noticed too. Values have positions through all blocks and
/// elements, in the order of sending. Two buffers with equal type signatures have equal positions.
#[derive(Clone, Debug)]
pub struct Image<D: Datatype> {
    blocks: Vec<Elements<D>>,
    /// Arrays for MPI functions that take one count, displacement and datatype for each block.
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
    datatypes: Vec<D::Handle>,
    /// Distances of the blocks from the buffer's address in bytes.
    offsets: Vec<isize>,
    /// The position of each block's first value, then the number of all values.
    firsts: Vec<usize>,
    pattern: u8,
    storage: Storage,
    start: usize,
    length: usize,
    origin: usize,
}

impl<D: Datatype + Clone> Image<D> {
    /// Makes a buffer with at least one block. Equal arguments make equal buffers.
    pub fn new(blocks: &[Elements<D>], placement: Placement, pattern: u8) -> Self {
        let displacements = placement.displacements(blocks);
        let in_bytes = |(block, &by): (&Elements<D>, &c_int)| by as isize * placement.unit(block);
        let offsets: Vec<isize> = blocks.iter().zip(&displacements).map(in_bytes).collect();
        let spans =
            || blocks.iter().zip(&offsets).map(|(block, by)| block.span().start + by..block.span().end + by);
        let lowest = spans().map(|span| span.start).min().unwrap_or(0).min(0);
        let highest = spans().map(|span| span.end).max().unwrap_or(0).max(0);
        let below = (GUARD + lowest.unsigned_abs()).next_multiple_of(ALIGNMENT);
        let length = below + highest.unsigned_abs() + GUARD;
        let unit = if length >= LONG { PAGE } else { ALIGNMENT };
        let storage = vec![0; length + unit];
        let start = storage.as_ptr().wrapping_add(below - ALIGNMENT).align_offset(unit);
        let mut image = Image {
            counts: blocks.iter().map(|block| block.count as c_int).collect(),
            datatypes: blocks.iter().map(|block| block.datatype.handle()).collect(),
            firsts: firsts(blocks),
            blocks: blocks.to_vec(),
            displacements,
            offsets,
            pattern,
            storage: Storage::Host(storage),
            start,
            length,
            origin: start + below,
        };
        image.clear();
        image
    }

    /// Moves the buffer to the memory that `make` returns for its number of bytes, if `make` returns any.
    pub fn move_to(&mut self, make: impl FnOnce(usize) -> Option<Box<dyn OtherMemory>>) {
        if let Some(mut memory) = make(self.storage.len()) {
            memory.bytes_mut().copy_from_slice(&self.storage);
            self.storage = Storage::Other(memory);
        }
    }

    /// Whether all elements are single values without gaps between them.
    pub fn is_plain(&self) -> bool {
        self.blocks.iter().all(|block| {
            let layout = block.datatype.layout();
            layout.slots.len() == 1 && layout.extent == layout.slots[0].scalar.bytes() as isize
        })
    }

    /// Whether the buffer is too large to copy in reasonable memory and time. Values of a large buffer are
    /// compared one by one, and its guards and gaps hold no pattern.
    pub fn is_large(&self) -> bool {
        self.length >= LARGE
    }

    /// Writes one byte of each cache line over itself.
    pub fn rewrite(&mut self) {
        for byte in self.storage.iter_mut().step_by(CACHE_LINE) {
            // `black_box` hides from the compiler that nothing changes.
            *black_box(&mut *byte) = black_box(*byte);
        }
    }

    /// Fills the whole buffer with the pattern, unless it is large.
    pub fn clear(&mut self) {
        if self.is_large() {
            return;
        }
        let (range, pattern) = (self.start..self.start + self.length, self.pattern);
        for (place, byte) in self.storage[range].iter_mut().enumerate() {
            *byte = filler(place) ^ pattern;
        }
    }

    /// Returns the number of elements in the first block. All blocks have this count if MPI takes only one.
    pub fn count(&self) -> c_int {
        self.counts[0]
    }

    pub fn counts(&self) -> &[c_int] {
        &self.counts
    }

    /// Returns the distances of the blocks from the buffer's address, in elements or bytes.
    pub fn displacements(&self) -> &[c_int] {
        &self.displacements
    }

    /// Returns the distances of the blocks from the buffer's address in bytes.
    pub fn offsets(&self) -> &[isize] {
        &self.offsets
    }

    /// Returns the handle of the first block's datatype. All blocks have this datatype if MPI takes only one.
    pub fn datatype(&self) -> D::Handle {
        self.datatypes[0]
    }

    pub fn datatypes(&self) -> &[D::Handle] {
        &self.datatypes
    }

    pub fn elements(&self) -> &[Elements<D>] {
        &self.blocks
    }

    /// Returns the layout of the first block's elements.
    pub fn layout(&self) -> &Layout {
        self.blocks[0].datatype.layout()
    }

    /// Returns the number of values in an element of the first block.
    pub fn width(&self) -> usize {
        self.blocks[0].width()
    }

    /// Returns the number of values.
    pub fn values(&self) -> usize {
        self.firsts[self.blocks.len()]
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the positions of a block's values.
    pub fn block(&self, block: usize) -> Range<usize> {
        self.firsts[block]..self.firsts[block + 1]
    }

    /// Returns the address for MPI to read from.
    pub fn address(&self) -> *const c_void {
        self.storage.address().wrapping_add(self.origin).cast()
    }

    /// Returns the address for MPI to write to.
    pub fn address_mut(&mut self) -> *mut c_void {
        self.storage.address_mut().wrapping_add(self.origin).cast()
    }

    pub fn set(&mut self, position: usize, value: i64) {
        let (range, scalar) = self.place(position);
        let bytes = scalar.encode(value);
        self.storage[range.clone()].copy_from_slice(&bytes[..range.len()]);
    }

    pub fn get(&self, position: usize) -> f64 {
        let (range, scalar) = self.place(position);
        scalar.decode(&self.storage[range])
    }

    /// Whether [`Image::set`] would change nothing.
    fn holds(&self, position: usize, value: i64) -> bool {
        let (range, scalar) = self.place(position);
        self.storage[range.clone()] == scalar.encode(value)[..range.len()]
    }

    fn value_bytes(&self, position: usize) -> &[u8] {
        &self.storage[self.range(position)]
    }

    /// Returns a copy with some values of another image of the same kind. Use the copy for comparisons only.
    pub fn with_values_of(&self, other: &Image<D>, positions: Range<usize>) -> Self {
        let mut copy = self.clone();
        for position in positions {
            copy.storage[self.range(position)].copy_from_slice(other.value_bytes(position));
        }
        copy
    }

    /// Returns the block of a value and the value's index within that block.
    fn locate(&self, position: usize) -> (usize, usize) {
        let block = self.firsts.partition_point(|&first| first <= position) - 1;
        (block, position - self.firsts[block])
    }

    /// Returns the place of a value in the storage.
    fn range(&self, position: usize) -> Range<usize> {
        self.place(position).0
    }

    /// Returns the place of a value in the storage, and its type.
    fn place(&self, position: usize) -> (Range<usize>, Scalar) {
        let (block, value) = self.locate(position);
        let (distance, scalar) = self.blocks[block].place(value);
        let distance = self.offsets[block] + distance;
        let start = self.origin.checked_add_signed(distance).expect("values lie within the buffer");
        (start..start + scalar.bytes(), scalar)
    }

    /// Returns the elements with their gaps and guards.
    pub fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.length]
    }

    /// Describes the first difference from the expected buffer.
    pub fn difference(&self, expected: &Image<D>) -> Option<String> {
        if self.bytes() == expected.bytes() {
            return None;
        }
        let wrong: Vec<usize> = (0..self.values())
            .filter(|&position| self.value_bytes(position) != expected.value_bytes(position))
            .collect();
        let Some(&position) = wrong.first() else {
            return Some(self.overwritten(expected.bytes()));
        };
        let (block, value) = self.locate(position);
        Some(format!(
            "block {block}, element {}, value {}: got {}, expected {} ({} of {} values are wrong)",
            value / self.blocks[block].width(),
            value % self.blocks[block].width(),
            self.get(position),
            expected.get(position),
            wrong.len(),
            self.values()
        ))
    }

    /// Describes which bytes differ from an earlier state.
    pub fn overwritten(&self, before: &[u8]) -> String {
        let differs = |place: &usize| self.bytes()[*place] != before[*place];
        let places: Vec<usize> = (0..self.length).filter(differs).collect();
        let Some(first) = places.first().map(|place| place + self.start) else {
            return "no byte was overwritten".into();
        };
        let distance = first as isize - self.origin as isize;
        let in_block = |(block, by): (&Elements<D>, &isize)| block.span().contains(&(distance - by));
        let region = if (0..self.values()).any(|position| self.range(position).contains(&first)) {
            "a value"
        } else if self.blocks.iter().zip(&self.offsets).any(in_block) {
            "a gap"
        } else {
            "the guard"
        };
        format!("{} bytes were overwritten, the first at {distance} in {region}", places.len())
    }
}

fn firsts(blocks: &[Elements<impl Datatype>]) -> Vec<usize> {
    let mut firsts = vec![0];
    firsts.extend(blocks.iter().scan(0, |total, block| {
        *total += block.values();
        Some(*total)
    }));
    firsts
}

fn filler(place: usize) -> u8 {
    ((place as u32).wrapping_mul(0x9e37_79b1) >> 20) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Int(Layout);

    impl Datatype for Int {
        type Handle = ();

        fn layout(&self) -> &Layout {
            &self.0
        }

        fn handle(&self) {}
    }

    #[test]
    fn long_buffers_begin_where_malloc_places_them() {
        let slots = vec![BasicValue { offset: 0, scalar: Scalar::Int }];
        let int = Rc::new(Int(Layout { slots, lower_bound: 0, extent: 4 }));
        for count in [LONG / 4, LONG / 4 + 1, 1 << 20] {
            let blocks = [Elements { datatype: Rc::clone(&int), count }];
            let image = Image::new(&blocks, Placement::Adjacent, 0);
            assert_eq!(image.address().addr() % PAGE, ALIGNMENT);
        }
    }
}
