//! The elements that the blocks of a schedule stand for in one call.

mod counts;
mod one_group;
mod two_groups;

pub use counts::Counts;
pub use one_group::bind;
pub use two_groups::bind as bind_two_groups;

use super::{Memory, Region, Rows};
use crate::schedule::{Buffer, Layout, Run, Schedule, SlotKind, Strided};
use std::ops::Range;
use std::sync::Arc;

/// How a call sees one buffer: the elements of its blocks, and the bytes of data of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Maps blocks to elements.
    pub layout: Layout,
    pub bytes: ElementBytes,
}

/// Bytes of data in an element, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementBytes {
    /// All elements have this many.
    Each(usize),
    /// The bytes of each element. If each block has a datatype of its own, a block is one element.
    Listed(Arc<[usize]>),
}

impl View {
    /// Returns a view of elements that all have the same bytes of data.
    pub fn new(layout: Layout, element_bytes: usize) -> View {
        View { layout, bytes: ElementBytes::Each(element_bytes) }
    }

    /// Whether each block has a datatype of its own.
    pub(super) fn lists_blocks(&self) -> bool {
        matches!(self.bytes, ElementBytes::Listed(_))
    }

    fn piece(&self, buffer: Buffer, range: Range<usize>) -> Option<Piece> {
        let region = Region { memory: Memory::Buffer(buffer), offset: range.start, elements: range.len() };
        let bytes = self.bytes(region.offset, region.elements);
        (bytes > 0).then_some(Piece { region, bytes })
    }

    /// Whether the buffer has a block. In neighbourhood collectives one of the two buffers may have fewer than the schedule.
    pub(super) fn has(&self, block: usize) -> bool {
        match (&self.layout, &self.bytes) {
            (Layout::Placed(places), _) => block < places.len(),
            (Layout::Separate, ElementBytes::Listed(bytes)) => block < bytes.len(),
            _ => true,
        }
    }

    fn bytes(&self, offset: usize, elements: usize) -> usize {
        match &self.bytes {
            ElementBytes::Each(bytes) => elements * bytes,
            ElementBytes::Listed(bytes) => bytes[offset..offset + elements].iter().sum(),
        }
    }
}

/// The views of the three buffers. Counterparts in a message or a reduction have the same number of bytes, whatever
/// their elements. So do counterparts in a copy, unless one of them is a block of bytes in scratch memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub send: View,
    pub recv: View,
    pub scratch: View,
    /// What slots hold. If slots lie together, their layout is that of scratch memory. Otherwise a region in
    /// slots has its slot's number as its offset.
    pub slot_kind: SlotKind,
}

impl Binding {
    /// Returns a binding of these views, with slots that lie apart.
    pub fn new(send: View, recv: View, scratch: View) -> Binding {
        Binding { send, recv, scratch, slot_kind: SlotKind::Apart }
    }

    /// Returns a binding that sees all buffers alike.
    pub fn uniform(view: View) -> Binding {
        Binding::new(view.clone(), view.clone(), view)
    }

    /// Returns the same binding with `gap` free elements behind each vector in scratch memory.
    pub(super) fn with_gaps(mut self, schedule: &Schedule, gap: usize) -> Binding {
        let layout = &self.scratch.layout;
        let place = |block: usize| {
            let elements = layout.block(block);
            (elements.start + block / schedule.blocks.max(1) * gap, elements.len())
        };
        self.scratch.layout = Layout::Placed((0..schedule.scratch_blocks()).map(place).collect());
        self
    }

    /// Returns the bytes of data of a run.
    pub fn bytes(&self, run: Run) -> usize {
        self.pieces(run).map(|piece| piece.bytes).sum()
    }

    /// Returns the bytes of data of a block; 0 if the buffer does not have it.
    pub fn bytes_of_block(&self, buffer: Buffer, block: usize) -> usize {
        if self.view(buffer).has(block) { self.bytes(buffer.block(block)) } else { 0 }
    }

    /// Returns the contiguous pieces of a run. Pieces without data are left out.
    pub fn pieces(&self, run: Run) -> impl Iterator<Item = Piece> {
        let view = self.view(run.buffer);
        view.layout.ranges(run.indices()).filter_map(move |range| view.piece(run.buffer, range))
    }

    /// Returns the pieces of equally spaced runs. If blocks are alike: those of the first run, with rows that
    /// repeat them.
    pub fn in_rows(&self, runs: Strided) -> impl Iterator<Item = (Piece, Rows<1>)> {
        let view = self.view(runs.buffer());
        let even = match (&view.layout, &view.bytes) {
            (Layout::Uniform { elements }, ElementBytes::Each(_)) if runs.times() > 1 => Some(*elements),
            _ => None,
        };
        let rows = even.map_or(Rows::ONE, |elements| Rows {
            number: runs.times() as usize,
            steps: [runs.stride().wrapping_mul(elements as isize) as usize],
        });
        let first = if even.is_some() { 1 } else { runs.times() };
        (0..first).flat_map(move |number| self.pieces(runs.run(number))).map(move |piece| (piece, rows))
    }

    /// Returns the elements of a block, or `None` if the block has no data.
    pub fn piece(&self, buffer: Buffer, block: usize) -> Option<Piece> {
        let view = self.view(buffer);
        view.piece(buffer, view.layout.block(block))
    }

    /// Returns the parallel pieces of runs of equally many blocks: whole runs if each is contiguous,
    /// otherwise block by block. A padded block may have more bytes than its counterparts, never fewer. So if
    /// whole runs have equal bytes, so have blocks.
    pub fn in_parallel<const N: usize>(&self, runs: [Run; N]) -> impl Iterator<Item = [Piece; N]> {
        let lie_apart = !self.are_slots_together() && runs.iter().any(|run| is_in_slots(*run));
        let whole = if lie_apart { None } else { self.whole(runs) };
        let is_whole = whole.is_some();
        let blocks = if is_whole { 0..0 } else { 0..runs[0].count as usize };
        whole.into_iter().flatten().chain(blocks.filter_map(move |index| self.parallel_blocks(runs, index)))
    }

    /// Returns each run as one piece, if all are contiguous with equal bytes. The inner `None` means that
    /// they have no data.
    fn whole<const N: usize>(&self, runs: [Run; N]) -> Option<Option<[Piece; N]>> {
        let firsts = runs.map(|run| {
            let mut pieces = self.pieces(run);
            (pieces.next(), pieces.next().is_some())
        });
        let bytes = |(first, _): &(Option<Piece>, bool)| first.map(|piece| piece.bytes);
        let is_whole = firsts.iter().all(|run| !run.1 && bytes(run) == bytes(&firsts[0]));
        is_whole.then(|| together(firsts.map(|(first, _)| first)))
    }

    /// Returns block `index` of each run, counted from the run's first block.
    fn parallel_blocks<const N: usize>(&self, runs: [Run; N], index: usize) -> Option<[Piece; N]> {
        let block = |run: Run| run.first as usize + index;
        let known = runs.into_iter().find(|run| !is_in_slots(*run)).expect("a slot meets other memory");
        let met = self.piece(known.buffer, block(known))?;
        together(runs.map(|run| match run.buffer {
            Buffer::Shared(_) => Some(self.piece_in_slots(run.buffer, block(run), met)),
            _ => self.piece(run.buffer, block(run)),
        }))
    }

    /// Returns the piece in a slot. Its counterpart `met` gives its bytes; it has as many elements as they
    /// have in scratch.
    fn piece_in_slots(&self, buffer: Buffer, slot: usize, met: Piece) -> Piece {
        let elements = match &self.scratch.bytes {
            ElementBytes::Each(bytes) => met.bytes / (*bytes).max(1),
            ElementBytes::Listed(_) => met.bytes,
        };
        let offset = if self.are_slots_together() { self.scratch.layout.block(slot).start } else { slot };
        Piece { region: Region { memory: Memory::Buffer(buffer), offset, elements }, bytes: met.bytes }
    }

    fn are_slots_together(&self) -> bool {
        self.slot_kind == SlotKind::Together
    }

    /// Returns the view of a buffer. Slots have a view only if they lie together.
    pub(super) fn view(&self, buffer: Buffer) -> &View {
        match buffer {
            Buffer::Send => &self.send,
            Buffer::Recv => &self.recv,
            Buffer::Scratch => &self.scratch,
            Buffer::Shared(_) if self.are_slots_together() => &self.scratch,
            Buffer::Shared(_) => unreachable!("what a slot holds is known from what it meets"),
        }
    }
}

/// A region that has data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub region: Region,
    /// Bytes of data, at least one.
    pub bytes: usize,
}

fn is_in_slots(run: Run) -> bool {
    matches!(run.buffer, Buffer::Shared(_))
}

/// Returns the pieces if all of them have data.
fn together<const N: usize>(pieces: [Option<Piece>; N]) -> Option<[Piece; N]> {
    pieces.iter().all(Option::is_some).then(|| pieces.map(|piece| piece.expect("all are there")))
}
