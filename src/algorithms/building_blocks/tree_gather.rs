//! Gather and scatter along any tree.

use crate::schedule::{Builder, Message, Schedule};

/// Each rank collects the blocks of its children's subtrees and passes those of its own on to the parent; who has no parent is the
/// root. `subtree` says where a rank's blocks stand, its own among them.
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

/// The mirror of [`tree_gather`]: each rank gets the blocks of its subtree and passes on those of its children.
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
