//! Gather and scatter along any tree.

use crate::schedule::{Builder, Message, Schedule};

/// Each rank collects the blocks of its children's subtrees and passes its own subtree's blocks to its parent. A rank
/// without a parent is the root. `subtree` says where a rank's blocks lie, its own block included.
pub fn tree_gather(
    rank: usize,
    size: usize,
    parent: Option<usize>,
    children: impl IntoIterator<Item = usize>,
    subtree: impl Fn(usize) -> Message,
) -> Schedule {
    let mut program = Builder::new(rank, size, size);
    for child in children {
        program.receive(child, subtree(child));
    }
    program.end_round();
    if let Some(parent) = parent {
        program.send(parent, subtree(rank));
    }
    program.build()
}

/// The mirror of [`tree_gather`]: each rank receives the blocks of its subtree and passes on those of its children's.
pub fn tree_scatter(
    rank: usize,
    size: usize,
    parent: Option<usize>,
    children: impl IntoIterator<Item = usize>,
    subtree: impl Fn(usize) -> Message,
) -> Schedule {
    let mut program = Builder::new(rank, size, size);
    if let Some(parent) = parent {
        program.receive(parent, subtree(rank));
        program.end_round();
    }
    for child in children {
        program.send(child, subtree(child));
    }
    program.build()
}
