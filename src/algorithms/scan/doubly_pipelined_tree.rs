//! Doubly pipelined binary tree in the order of ranks for MPI_Scan and MPI_Exscan (Sanders and Träff 2006). Sums of
//! subtrees go up, while sums of all ranks before a subtree come down, segment by segment.
//!
//! The tree has floor(log2 p) levels below its root. For each segment an inner rank receives three messages and sends
//! three. Sums of both children's subtrees come up, and their total goes on to the parent. The sum of the ranks before
//! the subtree comes down and goes on to both children. With k segments: up to 3k + 4 ceil(log2 p) + 4 rounds of one
//! k-th of the vector. In a scan the busiest rank combines the vector 3 times, in an exclusive scan 4 times.
//! Keeps the order of operands.

use super::{contribution, free_place};
use crate::algorithms::building_blocks::AHEAD;
use crate::algorithms::building_blocks::in_order_tree::{Vertex, middle};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const SCAN: Algorithm = Algorithm {
    collectives: &[Collective::Scan],
    name: "doubly_pipelined_tree",
    aliases: &[],
    source: "Sanders, Träff 2006",
    idea: "Sums of subtrees go up a binary tree in the order of ranks, and sums of all that is before a subtree come down, \
            both in segments and at the same time.",
    avoid_when: "vectors are short, or so long for the number of ranks that `chain` is faster, which sends a third as much.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(scan),
};

pub const EXSCAN: Algorithm =
    Algorithm { collectives: &[Collective::Exscan], body: Body::Messages(exscan), ..SCAN };

fn scan(problem: &Problem, rank: usize) -> Schedule {
    let (tree, vector) = (TreeNeighbours::new(rank, problem.size), Vectors(problem.segments));
    let own = |segment| contribution(problem).block(segment);
    // The sum of this rank and its lower child's subtree.
    let sum = |segment| if tree.lower.is_some() { Recv.block(segment) } else { own(segment) };

    let up = |program: &mut Builder, segment: usize| {
        if let Some(lower) = tree.lower {
            let below = vector.block(0, segment);
            receive(program, lower, below);
            program.reduce(below, own(segment), sum(segment));
        }
        tree.send_up(program, sum(segment), vector.block(1, segment));
    };
    let down = |program: &mut Builder, segment: usize| {
        let result = Recv.block(segment);
        match tree.above {
            Some(parent) => {
                let before = vector.block(0, segment);
                receive(program, parent, before);
                if let Some(lower) = tree.lower {
                    program.send(lower, before);
                }
                program.reduce(before, sum(segment), result);
            }
            None => program.copy(sum(segment), result),
        }
        if let Some(upper) = tree.upper {
            program.send(upper, result);
        }
    };
    tree.pipelined(problem, up, down)
}

fn exscan(problem: &Problem, rank: usize) -> Schedule {
    let (tree, vector) = (TreeNeighbours::new(rank, problem.size), Vectors(problem.segments));
    let own = |segment| contribution(problem).block(segment);
    let result = |segment| free_place(problem, segment, vector.index(2, segment));
    let sum = |segment| if tree.lower.is_some() { vector.block(0, segment) } else { own(segment) };

    let up = |program: &mut Builder, segment: usize| {
        if let Some(lower) = tree.lower {
            receive(program, lower, result(segment));
            if tree.upper.is_some() || tree.sum_is_for.is_some() {
                program.reduce(result(segment), own(segment), sum(segment));
            }
        }
        tree.send_up(program, sum(segment), vector.block(1, segment));
    };
    let down = |program: &mut Builder, segment: usize| {
        let (mut before_own, mut up_to_own) = (result(segment), sum(segment));
        if let Some(parent) = tree.above {
            // Even a rank without children needs the sum from above, so it cannot send up faster than sums come down.
            let before = vector.block(1, segment);
            receive(program, parent, before);
            if tree.upper.is_some() {
                up_to_own = vector.block(0, segment);
                program.reduce(before, sum(segment), up_to_own);
            }
            match tree.lower {
                Some(lower) => {
                    program.send(lower, before);
                    program.reduce(before, before_own, before_own);
                }
                None => before_own = before,
            }
        }
        if let Some(upper) = tree.upper {
            program.send(upper, up_to_own);
        }
        if rank > 0 {
            program.copy(before_own, Recv.block(segment));
        }
    };
    tree.pipelined(problem, up, down)
}

/// Vectors in scratch, with this many segments each.
struct Vectors(usize);

impl Vectors {
    fn index(&self, vector: usize, segment: usize) -> usize {
        vector * self.0 + segment
    }

    fn block(&self, vector: usize, segment: usize) -> Run {
        Scratch.block(self.index(vector, segment))
    }
}

/// A rank's neighbours in the tree, by what they exchange.
struct TreeNeighbours {
    rank: usize,
    /// The child whose subtree holds the ranks just below.
    lower: Option<usize>,
    /// The child whose subtree holds the ranks just above.
    upper: Option<usize>,
    /// The parent, if it needs the sum of this subtree: not if the subtree holds the last ranks.
    sum_is_for: Option<usize>,
    /// The parent, if there are ranks before the subtree; it sends their sum.
    above: Option<usize>,
    /// How many segments the way down is behind the way up.
    lag: usize,
}

impl TreeNeighbours {
    fn new(rank: usize, size: usize) -> TreeNeighbours {
        let vertex = Vertex::new(rank, size, middle(&(0..size)));
        TreeNeighbours {
            rank,
            lower: vertex.lower_child(),
            upper: vertex.upper_child(),
            sum_is_for: vertex.parent.filter(|_| vertex.subtree.end < size),
            above: vertex.parent.filter(|_| vertex.subtree.start > 0),
            lag: lag(&vertex, size),
        }
    }

    /// Sends the subtree's sum up if needed. `sum` lacks the upper child's part, which arrives in `landing`.
    fn send_up(&self, program: &mut Builder, sum: Run, landing: Run) {
        let Some(parent) = self.sum_is_for else { return };
        match self.upper {
            Some(upper) => {
                receive(program, upper, landing);
                program.reduce(sum, landing, landing);
                program.send(parent, landing);
            }
            None => _ = program.send(parent, sum),
        }
    }

    /// Returns one program with both directions.
    fn pipelined(
        &self,
        problem: &Problem,
        up: impl Fn(&mut Builder, usize),
        down: impl Fn(&mut Builder, usize),
    ) -> Schedule {
        let segments = problem.segments;
        let mut program = Builder::new(self.rank, problem.size, segments);
        for turn in 0..segments + self.lag {
            if turn < segments {
                up(&mut program, turn);
            }
            if let Some(segment) = turn.checked_sub(self.lag) {
                down(&mut program, segment);
            }
        }
        program.build().overlapped(AHEAD)
    }
}

fn receive(program: &mut Builder, peer: usize, block: Run) {
    program.receive(peer, block);
    program.end_round();
}

/// Returns how many segments go up before the first one comes down: one for each round in between. So no rank
/// waits for a sum from above before it sends up what others wait for.
fn lag(vertex: &Vertex, size: usize) -> usize {
    comes_down(vertex, size).saturating_sub(goes_up(vertex.subtree.len()))
}

/// Returns the round in which the first segment of a subtree of `ranks` ranks is complete: two rounds for each level.
fn goes_up(ranks: usize) -> usize {
    2 * ranks.checked_ilog2().unwrap_or(0) as usize
}

/// Returns the round in which the first sum of the ranks before a subtree arrives there; 0 if there are none.
fn comes_down(vertex: &Vertex, size: usize) -> usize {
    let Some(parent) = vertex.parent.filter(|_| vertex.subtree.start > 0) else { return 0 };
    let parent = Vertex::new(parent, size, middle(&(0..size)));
    let before_parent = comes_down(&parent, size);
    match vertex.rank < parent.rank {
        true => before_parent + 1,
        false => before_parent.max(goes_up(parent.rank - parent.subtree.start) + 1) + 2,
    }
}
