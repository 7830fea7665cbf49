//! Which elements the blocks of a schedule stand for, in one call.

use super::{Memory, Region};
use crate::schedule::{Buffer, Layout, Run};

/// How one buffer is seen: its blocks in elements, its elements in bytes of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// From blocks to elements.
    pub layout: Layout,
    /// Bytes of data in one element, gaps not counted.
    pub element_bytes: usize,
}

/// The views of the three buffers. Blocks that meet in a message, a copy or a reduction hold the same number of bytes,
/// whatever elements those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        Binding { send: view, recv: view, scratch: view }
    }

    /// The view of a buffer.
    pub fn view(&self, buffer: Buffer) -> &View {
        match buffer {
            Buffer::Send => &self.send,
            Buffer::Recv => &self.recv,
            Buffer::Scratch => &self.scratch,
        }
    }

    /// The elements of a run.
    pub fn region(&self, run: Run) -> Region {
        let elements = self.view(run.buffer).layout.elements(run.indices());
        Region { memory: Memory::Buffer(run.buffer), offset: elements.start, elements: elements.len() }
    }

    /// The bytes of data in a run.
    pub fn bytes(&self, run: Run) -> usize {
        self.region(run).elements * self.view(run.buffer).element_bytes
    }
}
