//! Schedules from schedules: one after another, in a subgroup, under other ranks, in other buffers.

use super::{Message, Run, Schedule, Step};

impl Schedule {
    /// A rank's program that does nothing.
    pub fn idle(rank: usize, size: usize, blocks: usize) -> Schedule {
        Schedule { rank, size, blocks, steps: Vec::new() }
    }

    /// This program, then `next`. Both act on the same buffers, scratch included.
    ///
    /// Panics if the two are not programs of the same rank over the same blocks.
    pub fn then(mut self, next: Schedule) -> Schedule {
        assert_eq!(
            (self.rank, self.size, self.blocks),
            (next.rank, next.size, next.blocks),
            "different problems"
        );
        let shift = self.posts() as u32;
        self.steps.extend(next.steps.into_iter().map(|mut step| {
            match &mut step {
                Step::Send { post, .. } | Step::Receive { post, .. } => *post += shift,
                Step::Wait { posts } => posts.iter_mut().for_each(|post| *post += shift),
                Step::Copy { .. } | Step::Reduce { .. } => {}
            }
            step
        }));
        self
    }

    /// The program of a subgroup's rank as a program of a group of `size` ranks: `member(i)` is the group's rank of
    /// the subgroup's rank `i`.
    pub fn embed(mut self, size: usize, member: impl Fn(usize) -> usize) -> Schedule {
        self.rank = member(self.rank);
        self.size = size;
        for step in &mut self.steps {
            if let Step::Send { peer, .. } | Step::Receive { peer, .. } = step {
                *peer = member(*peer as usize) as u32;
            }
        }
        self
    }

    /// The same program with the ranks renamed: rank `i` becomes `(i + root) % size`. What was written for root 0
    /// serves every root.
    pub fn relabel(self, root: usize) -> Schedule {
        let size = self.size;
        self.embed(size, |rank| (rank + root) % size)
    }

    /// The same program over other buffers or blocks. Runs are mapped whole; adjacent results are merged.
    pub fn map_runs(mut self, map: impl Fn(Run) -> Run) -> Schedule {
        for step in &mut self.steps {
            match step {
                Step::Send { message, .. } | Step::Receive { message, .. } => {
                    *message = message.runs().iter().map(|&run| map(run)).collect::<Message>();
                }
                Step::Wait { .. } => {}
                Step::Copy { source, target } => (*source, *target) = (map(*source), map(*target)),
                Step::Reduce { left, right, target } => {
                    (*left, *right, *target) = (map(*left), map(*right), map(*target));
                }
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::{Buffer, Builder, Schedule, Step};

    fn ping(rank: usize) -> Schedule {
        let mut program = Builder::new(rank, 2, 1);
        if rank == 0 {
            program.send(1, Buffer::Send.block(0));
        } else {
            program.receive(0, Buffer::Recv.block(0));
        }
        program.build()
    }

    #[test]
    fn then_renumbers_posts() {
        let both = ping(0).then(ping(0));
        assert_eq!(both.posts(), 2);
        assert_eq!(both.steps[3], Step::Wait { posts: vec![1] });
    }

    #[test]
    fn embed_renames_self_and_peers() {
        let embedded = ping(1).embed(10, |rank| [4, 7][rank]);
        assert_eq!((embedded.rank, embedded.size), (7, 10));
        assert!(matches!(embedded.steps[0], Step::Receive { peer: 4, .. }));
    }

    #[test]
    fn relabel_rotates() {
        let rotated = ping(1).relabel(1);
        assert_eq!(rotated.rank, 0);
        assert!(matches!(rotated.steps[0], Step::Receive { peer: 1, .. }));
    }

    #[test]
    fn map_runs_moves_buffers() {
        let moved = ping(0).map_runs(|run| run.in_buffer(Buffer::Scratch));
        assert_eq!(moved.scratch_blocks(), 1);
    }
}
