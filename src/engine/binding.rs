//! Which elements the blocks of a schedule stand for, in one call.

use super::{Memory, Region};
use crate::schedule::{Buffer, Layout, Run};
use std::sync::Arc;

/// How one buffer is seen: its blocks in elements, its elements in bytes of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// From blocks to elements.
    pub layout: Layout,
    /// How many bytes elements have.
    pub bytes: ElementBytes,
}

/// Bytes of data of an element, gaps not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementBytes {
    /// The same for all.
    Each(usize),
    /// Element by element: where each block has a datatype of its own, a block is an element.
    Listed(Arc<[usize]>),
}

impl View {
    /// A view of elements that all have the same bytes of data.
    pub fn new(layout: Layout, element_bytes: usize) -> View {
        View { layout, bytes: ElementBytes::Each(element_bytes) }
    }

    fn bytes(&self, offset: usize, elements: usize) -> usize {
        match &self.bytes {
            ElementBytes::Each(bytes) => elements * bytes,
            ElementBytes::Listed(bytes) => bytes[offset..offset + elements].iter().sum(),
        }
    }
}

/// The views of the three buffers. Blocks that meet in a message or a reduction hold the same number of bytes, whatever
/// elements those are; so do those that meet in a copy, unless one of them is a block of bytes in scratch memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The send buffer.
    pub send: View,
    /// The receive buffer.
    pub recv: View,
    /// The scratch memory.
    pub scratch: View,
}

impl Binding {
    /// All buffers seen alike.
    pub fn uniform(view: View) -> Binding {
        Binding { send: view.clone(), recv: view.clone(), scratch: view }
    }

    /// Bytes of data of a run.
    pub fn bytes(&self, run: Run) -> usize {
        self.pieces(run).map(|piece| piece.bytes).sum()
    }

    /// The elements of a run, as far as they lie together, with their bytes of data; what has none is left out.
    pub fn pieces(&self, run: Run) -> impl Iterator<Item = Piece> {
        let view = match run.buffer {
            Buffer::Send => &self.send,
            Buffer::Recv => &self.recv,
            Buffer::Scratch => &self.scratch,
            Buffer::Shared(_) => unreachable!("what a slot holds is known from what it meets"),
        };
        let memory = Memory::Buffer(run.buffer);
        view.layout.ranges(run.indices()).into_iter().filter_map(move |range| {
            let region = Region { memory, offset: range.start, elements: range.len() };
            let bytes = view.bytes(region.offset, region.elements);
            (bytes > 0).then_some(Piece { region, bytes })
        })
    }
}

/// A region and its bytes of data, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The region.
    pub region: Region,
    /// Its bytes of data.
    pub bytes: usize,
}
