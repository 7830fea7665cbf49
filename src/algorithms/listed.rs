//! Algorithms from schedule files: listed programs of all ranks, for some numbers of ranks.

use super::{Collective, Cut, Problem};
use crate::schedule::{Buffer, Run, Schedule, Step};
use std::collections::BTreeMap;

/// Programs for calls on intra-communicators that are not in place.
#[derive(Debug)]
pub struct Listed {
    pub collective: Collective,
    /// The roots that the programs serve.
    pub root: Root,
    /// By number of ranks: the programs of all ranks, rank 0's first.
    pub programs: BTreeMap<usize, Vec<Schedule>>,
}

/// The root of listed programs; rank 0 if the collective has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    Only(usize),
    /// Any root. The programs are for root 0. With root r, rank i runs the program of rank i − r, modulo the number of
    /// ranks. Blocks that belong to ranks are renumbered with them.
    Any,
}

impl Listed {
    /// Returns the rank whose listed program `rank` runs, given the problem's root.
    pub fn origin(&self, problem: &Problem, rank: usize) -> usize {
        (rank + problem.size - self.moved_by(problem)) % problem.size
    }

    /// How much is added to the listed ranks, given the problem's root.
    fn moved_by(&self, problem: &Problem) -> usize {
        if self.root == Root::Any { problem.root } else { 0 }
    }

    /// Whether blocks get other numbers than in the listed programs.
    pub fn renumbers_blocks(&self, problem: &Problem) -> bool {
        self.moved_by(problem) > 0 && self.collective.cut() != Cut::Vector
    }

    /// Returns the schedule of a rank.
    ///
    /// # Panics
    /// If there are no programs for so many ranks.
    pub fn schedule(&self, problem: &Problem, rank: usize) -> Schedule {
        let by = self.moved_by(problem);
        let program = self.programs[&problem.size][self.origin(problem, rank)].clone();
        let program = match by {
            0 => program,
            _ if self.renumbers_blocks(problem) => program.relabel(by).relabel_blocks(by),
            _ => program.relabel(by),
        };
        if problem.in_place { in_place(self.collective, program, problem) } else { program }
    }
}

/// Returns the program for an in-place call. Scratch blocks keep the input, because the result overwrites it. They
/// also replace a send or receive buffer that the rank does not have.
fn in_place(collective: Collective, program: Schedule, problem: &Problem) -> Schedule {
    let Schedule { rank, blocks, .. } = program;
    // Scratch block i is as long as block i, modulo the number of blocks.
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
