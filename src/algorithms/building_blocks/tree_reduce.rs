//! Reduction along any tree, whole or in segments.

use super::exchange_and_reduce::in_rank_order;
use crate::schedule::{Buffer, Buffer::*, Builder, Post, Run, Schedule};

/// Reduces the segments of a rank's contribution with its children's, in their order, in the receive buffer, and passes
/// the results to the parent. A rank without a parent is the root. A segment arrives while the previous one is reduced.
///
/// The order of operands is kept if each child's subtree and the ranks reduced before it are neighbouring ranges.
pub fn tree_reduce(
    rank: usize,
    size: usize,
    segments: usize,
    contribution: Buffer,
    parent: Option<usize>,
    children: impl IntoIterator<Item = usize>,
) -> Schedule {
    let children: Vec<usize> = children.into_iter().collect();
    let mut program = Builder::new(rank, size, segments);
    let incoming = |segment, child| incoming(segment, segments, child, contribution);
    let mut arrivals = (0..segments)
        .flat_map(|segment| children.iter().enumerate().map(move |(child, &from)| (from, segment, child)));
    let mut receive_next = |program: &mut Builder| -> Option<Post> {
        arrivals.next().and_then(|(from, segment, child)| program.receive(from, incoming(segment, child)))
    };
    let mut arriving = receive_next(&mut program);
    let mut leaving = None;
    for segment in 0..segments {
        let mut reduced = contribution.block(segment);
        for (child, &from) in children.iter().enumerate() {
            // The next receive is posted before this one is awaited.
            let current = std::mem::replace(&mut arriving, receive_next(&mut program));
            program.wait(current);
            let (left, right) = in_rank_order((rank, reduced), (from, incoming(segment, child)));
            reduced = Recv.block(segment);
            program.reduce(left, right, reduced);
        }
        match parent {
            // At most two segments are in flight to the parent.
            Some(parent) => {
                let sent = program.send(parent, reduced);
                program.wait(std::mem::replace(&mut leaving, sent));
            }
            None => program.copy(reduced, Recv.block(segment)),
        }
    }
    program.build()
}

/// Returns where a segment from a child arrives. If the contribution is in the send buffer, the first child's
/// segment arrives where the result goes. The other segments alternate between two vectors of scratch.
fn incoming(segment: usize, segments: usize, child: usize, contribution: Buffer) -> Run {
    let turn = if contribution == Send { child.checked_sub(1) } else { Some(child) };
    turn.map_or(Recv.block(segment), |turn| Scratch.block(turn % 2 * segments + segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_rank_copies_its_contribution() {
        let copy = tree_reduce(0, 1, 2, Send, None, []);
        assert_eq!(copy.to_string(), "rank 0 of 1, 2 blocks\ncopy send[0..2] to recv[0..2]\n");
        assert!(tree_reduce(0, 1, 2, Recv, None, []).steps.is_empty());
    }

    #[test]
    fn scratch_is_two_vectors_at_most() {
        let needed =
            |contribution, children| tree_reduce(0, 10, 3, contribution, None, 1..=children).scratch_blocks();
        assert_eq!([1, 2, 3, 9].map(|children| needed(Send, children)), [0, 3, 6, 6]);
        assert_eq!([1, 2, 3, 9].map(|children| needed(Recv, children)), [3, 6, 6, 6]);
    }
}
