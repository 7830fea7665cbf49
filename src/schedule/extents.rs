//! How much programs hold without their loops.

use super::{Schedule, Step};

/// What steps hold together; each counts as often as it is carried out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extents {
    steps: usize,
    ranges: usize,
    awaited: usize,
}

impl Extents {
    /// Adds all steps of a program.
    pub fn add(&mut self, program: &Schedule) {
        program.times().for_each(|(step, times)| self.add_step(step, times));
    }

    /// Adds a step that is carried out so many times.
    pub fn add_step(&mut self, step: &Step, times: usize) {
        let (ranges, awaited) = match step {
            Step::Send { message, .. } | Step::Receive { message, .. } => {
                (message.strided().iter().map(|strided| strided.times() as usize).sum(), 0)
            }
            Step::Wait { posts } => (0, posts.len()),
            Step::Copy { .. } | Step::Reduce { .. } | Step::Notify { .. } | Step::Await { .. } => (0, 0),
        };
        for (total, held) in [(&mut self.steps, 1), (&mut self.ranges, ranges), (&mut self.awaited, awaited)]
        {
            *total = total.saturating_add(times.saturating_mul(held));
        }
    }

    /// Returns of which things there are more than `most`, and how many; `None` if of none.
    pub fn beyond(&self, most: usize) -> Option<(usize, &'static str)> {
        let counts = [
            (self.steps, "steps"),
            (self.ranges, "ranges of blocks in messages"),
            (self.awaited, "posts to wait for"),
        ];
        counts.into_iter().find(|(count, _)| *count > most)
    }
}
