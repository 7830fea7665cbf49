//! Algorithms whose programs are given, not made: those of all ranks, for some numbers of ranks.

use super::{Collective, Cut, Problem};
use crate::schedule::{Buffer, Run, Schedule, Step};
use std::collections::BTreeMap;

/// Programs for calls in one group that are not in place.
#[derive(Debug)]
pub struct Listed {
    /// What they perform.
    pub collective: Collective,
    /// For which roots they are.
    pub root: Root,
    /// By number of ranks: the programs of all ranks, rank 0's first.
    pub programs: BTreeMap<usize, Vec<Schedule>>,
}

/// The root of listed programs. 0 if the collective has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank.
    Only(usize),
    /// Any: the programs are for rank 0, and for root r rank i does what they say of rank i − r, modulo the number of ranks. Blocks that
    /// belong to ranks move with them.
    Any,
}

impl Listed {
    /// Whose program a rank has for some root.
    pub fn origin(&self, problem: &Problem, rank: usize) -> usize {
        (rank + problem.size - self.moved_by(problem)) % problem.size
    }

    /// By how much ranks are renumbered for a root.
    fn moved_by(&self, problem: &Problem) -> usize {
        if self.root == Root::Any { problem.root } else { 0 }
    }

    /// The schedule of a rank.
    ///
    /// # Panics
    /// If there are no programs for so many ranks.
    pub fn schedule(&self, problem: &Problem, rank: usize) -> Schedule {
        let by = self.moved_by(problem);
        let program = self.programs[&problem.size][self.origin(problem, rank)].clone();
        let program = match (by, self.collective.cut()) {
            (0, _) => program,
            (_, Cut::Vector) => program.relabel(by),
            _ => program.relabel(by).relabel_blocks(by),
        };
        if problem.in_place { in_place(self.collective, program, problem) } else { program }
    }
}

/// The program for a call in place: the input is moved away from where the result comes, and what has no place is kept in scratch blocks.
fn in_place(collective: Collective, program: Schedule, problem: &Problem) -> Schedule {
    let Schedule { rank, blocks, .. } = program;
    // Scratch blocks are as long as the blocks of their numbers, modulo the number of blocks.
    let free = program.scratch_blocks().next_multiple_of(blocks.max(1));
    let kept = |run: Run| Buffer::Scratch.blocks(run.indices().start + free..run.indices().end + free);
    let sends = !collective.send_blocks(problem, rank, blocks).is_empty();
    let receives = !collective.recv_blocks(problem, rank, blocks).is_empty();
    let mut moved = program.map_runs(|run| match run.buffer {
        Buffer::Send if !sends => kept(run),
        Buffer::Recv if !receives => kept(run),
        _ => run,
    });
    if let Some((Buffer::Recv, input)) = collective.input(problem, rank, blocks)
        && !input.is_empty()
    {
        let source = Buffer::Recv.blocks(input);
        moved.insert(0, Step::Copy { source, target: kept(source) });
    }
    moved
}
