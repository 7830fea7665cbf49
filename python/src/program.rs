//! The program of one rank, written step by step.

use crate::blocks::Blocks;
use pyo3::prelude::*;
use rustcoll::schedule::{self, Builder, Message, Post};

/// The program of one rank. Whatever was posted is waited for at its end.
#[pyclass(module = "rustcoll")]
pub struct Program(Builder);

impl Program {
    /// An empty program.
    pub fn new(rank: usize, ranks: usize, blocks: usize, slots: usize) -> Program {
        Program(Builder::new(rank, ranks, blocks).slots(slots))
    }

    /// The steps that were written so far.
    pub fn schedule(&self) -> schedule::Schedule {
        self.0.clone().build()
    }
}

fn message(blocks: Vec<Blocks>) -> Message {
    blocks.into_iter().map(|Blocks(run)| run).collect()
}

#[pymethods]
impl Program {
    /// Starts to send blocks to a rank. Returns the number of the post, to be waited for.
    #[pyo3(signature = (peer, *blocks))]
    fn send(&mut self, peer: u32, blocks: Vec<Blocks>) -> Option<Post> {
        self.0.send(peer as usize, message(blocks))
    }

    /// Starts to receive blocks from a rank. Returns the number of the post, to be waited for.
    #[pyo3(signature = (peer, *blocks))]
    fn receive(&mut self, peer: u32, blocks: Vec<Blocks>) -> Option<Post> {
        self.0.receive(peer as usize, message(blocks))
    }

    /// Waits for posts; without any, for all that are outstanding.
    #[pyo3(signature = (*posts))]
    fn wait(&mut self, posts: Vec<Post>) {
        match posts.is_empty() {
            true => self.0.end_round(),
            false => self.0.wait(posts),
        }
    }

    /// Copies blocks of the rank.
    fn copy(&mut self, source: Blocks, target: Blocks) {
        self.0.copy(source.0, target.0);
    }

    /// `target = left + right`; the left operand is of lower ranks.
    fn reduce(&mut self, left: Blocks, right: Blocks, target: Blocks) {
        self.0.reduce(left.0, right.0, target.0);
    }

    /// Raises the flag of one of the rank's slots: others may read what it has written by now.
    fn notify(&mut self, slot: u32) {
        self.0.notify(slot as usize);
    }

    /// Waits until a rank of the same node has raised the flag of one of its slots. Returns the slot.
    fn await_slot(&mut self, rank: u32, slot: u32) -> Blocks {
        Blocks(self.0.await_slot(rank as usize, slot as usize))
    }

    fn __str__(&self) -> String {
        self.schedule().to_string()
    }
}
