//! The symbolic memory of one rank.

use super::values::Value;
use super::violation::Fault;
use crate::schedule::{Buffer, Message, Post, Run};

/// The blocks of all buffers of one rank.
pub struct RankMemory {
    buffers: [Blocks; Buffer::PRIVATE.len()],
}

/// Consecutive blocks, of which few may be used: of many vector copies in scratch, an algorithm may use one
/// block each.
struct Blocks {
    /// `None` before the first use of one of its blocks.
    pages: Vec<Option<Box<[Block; PAGE]>>>,
}

const PAGE: usize = 32;

#[derive(Clone, Copy, Default)]
struct Block {
    /// `None` before the first write.
    value: Option<Value>,
    /// How many outstanding sends read the block.
    sends: u32,
    /// The outstanding receive that writes the block.
    receive: Option<Post>,
}

impl Blocks {
    fn new(length: usize) -> Self {
        Blocks { pages: vec![None; length.div_ceil(PAGE)] }
    }

    fn get(&self, index: usize) -> Block {
        self.pages[index / PAGE].as_ref().map_or_else(Block::default, |page| page[index % PAGE])
    }

    fn get_mut(&mut self, index: usize) -> &mut Block {
        &mut self.pages[index / PAGE].get_or_insert_default()[index % PAGE]
    }
}

impl RankMemory {
    /// Returns memory with `blocks` blocks in the send and in the receive buffer and `scratch` in scratch,
    /// all undefined.
    pub fn new(blocks: usize, scratch: usize) -> Self {
        RankMemory { buffers: [blocks, blocks, scratch].map(Blocks::new) }
    }

    /// Defines the blocks of a buffer from block `first` on.
    pub fn fill(&mut self, buffer: Buffer, first: usize, values: impl Iterator<Item = Value>) {
        for (block, value) in (first..).zip(values) {
            self.buffers[index(buffer)].get_mut(block).value = Some(value);
        }
    }

    /// Reads a run of one block.
    pub fn read(&self, run: Run) -> Result<Value, Fault> {
        let block = self.buffers[index(run.buffer)].get(run.first as usize);
        match block.receive {
            Some(post) => Err(Fault::ReadWhileReceived(run, post)),
            None => block.value.ok_or(Fault::Undefined(run)),
        }
    }

    /// Writes a run of one block.
    pub fn write(&mut self, run: Run, value: Value) -> Result<(), Fault> {
        self.writable(run)?.value = Some(value);
        Ok(())
    }

    /// Reads the blocks of a message, which must not be written until [`RankMemory::end_send`].
    pub fn begin_send(&mut self, message: &Message) -> Result<Vec<Value>, Fault> {
        let mut values = Vec::with_capacity(message.blocks());
        for run in message_blocks(message) {
            values.push(self.read(run)?);
            self.block(run).sends += 1;
        }
        Ok(values)
    }

    /// Ends the send of a message.
    pub fn end_send(&mut self, message: &Message) {
        for run in message_blocks(message) {
            self.block(run).sends -= 1;
        }
    }

    /// Gives the blocks of a message to a receive until [`RankMemory::end_receive`].
    pub fn begin_receive(&mut self, post: Post, message: &Message) -> Result<(), Fault> {
        for run in message_blocks(message) {
            if self.block(run).receive == Some(post) {
                return Err(Fault::ReceivedTwice(run));
            }
            self.writable(run)?.receive = Some(post);
        }
        Ok(())
    }

    /// Ends the receive of a message with the values that arrived.
    pub fn end_receive(&mut self, message: &Message, values: Vec<Value>) {
        for (run, value) in message_blocks(message).zip(values) {
            *self.block(run) = Block { value: Some(value), ..Block::default() };
        }
    }

    fn block(&mut self, run: Run) -> &mut Block {
        self.buffers[index(run.buffer)].get_mut(run.first as usize)
    }

    fn writable(&mut self, run: Run) -> Result<&mut Block, Fault> {
        match self.block(run) {
            Block { receive: Some(post), .. } => Err(Fault::WrittenWhileReceived(run, *post)),
            Block { sends: 0, .. } => Ok(self.block(run)),
            Block { .. } => Err(Fault::WrittenWhileSent(run)),
        }
    }
}

/// Returns the blocks of a run, each as a run of its own.
pub fn single_blocks(run: Run) -> impl Iterator<Item = Run> {
    run.indices().map(move |index| run.buffer.block(index))
}

/// Returns the blocks of a message, each as a run of its own.
pub fn message_blocks(message: &Message) -> impl Iterator<Item = Run> {
    message.runs().flat_map(single_blocks)
}

fn index(buffer: Buffer) -> usize {
    buffer.private().expect("slots are not of one rank's memory")
}
