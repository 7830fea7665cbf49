//! Broadcast along any tree, whole or in segments.

use crate::schedule::{Buffer::Recv, Builder, Schedule};

/// Passes segments from a rank's parent to its children, in the children's order. A rank without a parent is
/// the root. A segment is passed on while the next one arrives.
pub fn tree_broadcast(
    rank: usize,
    size: usize,
    segments: usize,
    parent: Option<usize>,
    children: impl IntoIterator<Item = usize>,
) -> Schedule {
    let children: Vec<usize> = children.into_iter().collect();
    let mut program = Builder::new(rank, size, segments);
    let mut arriving = None;
    let mut leaving: Vec<_> = Vec::new();
    for segment in 0..segments {
        if let Some(parent) = parent {
            // The next segment's receive is posted before this segment is awaited.
            let current = arriving.take().or_else(|| program.receive(parent, Recv.block(segment)));
            if segment + 1 < segments {
                arriving = program.receive(parent, Recv.block(segment + 1));
            }
            program.wait(current);
        }
        let sends: Vec<_> =
            children.iter().filter_map(|&child| program.send(child, Recv.block(segment))).collect();
        // At most two segments are in flight to each child.
        program.wait(std::mem::replace(&mut leaving, sends));
    }
    program.build()
}
