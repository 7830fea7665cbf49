//! Loops of a schedule that are bound during execution, one iteration at a time. So a plan takes no more
//! memory than its program.

use super::packed_scratch::Packed;
use super::planner::Planner;
use super::{Binding, Plan};
use crate::schedule::{Buffer, Message, Post, ProgramPart, Repeat, Schedule, Step};
use std::ops::Range;
use std::sync::Arc;

/// A loop of a schedule, and its binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The steps of the loop alone.
    program: Schedule,
    binding: Binding,
    /// How many post numbers are used, in a circle.
    posts: usize,
    /// The places of its scratch memory, if the plan's is packed.
    packed: Option<Arc<Packed>>,
}

/// One iteration of a loop.
#[derive(Clone, Debug)]
pub struct Time {
    number: u32,
    steps: Vec<Step>,
    /// The operations of this iteration.
    pub plan: Plan,
}

impl Loop {
    pub fn new(schedule: &Schedule, repeat: &Repeat, posts: usize, binding: &Binding) -> Loop {
        let steps = schedule.steps[repeat.steps.clone()].to_vec();
        let repeats = vec![Repeat { steps: 0..steps.len(), ..repeat.clone() }];
        let idle = Schedule::idle(schedule.rank, schedule.size, schedule.blocks);
        Loop { program: Schedule { steps, repeats, ..idle }, binding: binding.clone(), posts, packed: None }
    }

    /// Whether a loop can be bound during execution: no message needs staging memory, because it stays contiguous. In a
    /// schedule with slots no loop can: the schedule is cut into stripes, and each stripe is bound as a whole.
    pub fn is_possible(schedule: &Schedule, repeat: &Repeat, binding: &Binding) -> bool {
        let lies_together = |message: &Message| match message.single() {
            Some(run) => run.count == 1 || binding.view(run.buffer).layout.is_without_gaps(),
            None => false,
        };
        let is_possible = |step: &Step| match step {
            Step::Send { message, .. } | Step::Receive { message, .. } => lies_together(message),
            _ => true,
        };
        schedule.slots == 0 && schedule.steps[repeat.steps.clone()].iter().all(is_possible)
    }

    /// Whether all scratch runs stay where they are from one iteration to the next.
    pub fn keeps_scratch(&self) -> bool {
        let steps = self.program.steps.iter().zip(&self.program.repeats[0].moves);
        let mut runs = steps.flat_map(|(step, by)| step.runs().into_iter().zip(&by.runs));
        runs.all(|(run, by)| run.buffer != Buffer::Scratch || *by == 0)
    }

    /// Returns the elements of scratch memory that it uses in its first iteration.
    pub(super) fn scratch(&self) -> impl Iterator<Item = Range<usize>> {
        let runs = self.program.steps.iter().flat_map(Step::runs);
        let in_scratch = runs.filter(|run| run.buffer == Buffer::Scratch);
        in_scratch.flat_map(|run| self.binding.scratch.layout.ranges(run.indices()))
    }

    /// Gives scratch memory other places.
    pub(super) fn pack(&mut self, packed: Arc<Packed>) {
        self.packed = Some(packed);
    }

    /// Returns the same loop with rank `r` called `(r + by) mod size`.
    pub fn relabel(self, by: usize) -> Loop {
        Loop { program: self.program.relabel(by), ..self }
    }

    /// Returns the first iteration.
    pub fn first(&self) -> Time {
        let mut time = Time { number: 0, steps: self.program.steps.clone(), plan: Plan::default() };
        self.bind(&mut time);
        time
    }

    /// Moves on to the next iteration. Returns whether there is one.
    pub fn advance(&self, time: &mut Time) -> bool {
        let repeat = &self.program.repeats[0];
        time.number += 1;
        let is_one = time.number < repeat.times;
        if is_one {
            repeat.advance(&mut time.steps, self.program.moduli());
            self.bind(time);
        }
        is_one
    }

    fn bind(&self, time: &mut Time) {
        time.plan.operations.clear();
        time.plan.awaited.clear();
        let plan = std::mem::take(&mut time.plan);
        let mut planner = Planner::new(plan, self.program.rank, self.posts, &self.binding);
        time.steps.iter().for_each(|step| planner.step(step));
        time.plan = planner.plan;
        if let Some(packed) = &self.packed {
            packed.place(&mut time.plan.operations);
        }
    }

    /// Returns the elements of the longest region that may be reduced into its left operand, in any iteration.
    pub fn spare_elements(&self) -> usize {
        let reduced = |step: &Step| match *step {
            // Different blocks may move to the same place.
            Step::Reduce { left, target, .. } if left.buffer == target.buffer => {
                let longest = self.binding.view(target.buffer).layout.longest(self.program.blocks);
                longest * target.count as usize
            }
            _ => 0,
        };
        self.program.steps.iter().map(reduced).max().unwrap_or(0)
    }
}

/// Returns how many post numbers a schedule needs in a circle: those from the oldest awaited post to the latest one.
pub fn posts_at_a_time(schedule: &Schedule) -> usize {
    let (mut most, mut next) = (1, 0);
    for part in schedule.parts() {
        match part {
            ProgramPart::Once(steps) => look_at_waits(steps, &mut next, &mut most),
            // The distance to an awaited post never shrinks from one iteration to the next: the last one
            // needs the most.
            ProgramPart::Repeat(repeat) => {
                let last: Vec<Step> = schedule.steps_at(repeat, repeat.times - 1).collect();
                next += (repeat.times - 1) * last.iter().filter(|step| step.is_post()).count() as Post;
                look_at_waits(&last, &mut next, &mut most);
            }
        }
    }
    most as usize
}

fn look_at_waits(steps: &[Step], next: &mut Post, most: &mut Post) {
    for step in steps {
        *next += Post::from(step.is_post());
        if let Step::Wait { posts } = step {
            let oldest = posts.iter().min().copied().unwrap_or(*next);
            *most = (*most).max(*next - oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, Problem};
    use crate::engine::{Counts, Execution, LentCopy, Region, Transport, bind};
    use std::convert::Infallible;

    /// Records the calls of an execution. Every second test finds nothing new.
    #[derive(Debug, Default, PartialEq)]
    struct Recorder {
        sends: Vec<(Post, u32, Region)>,
        receives: Vec<(Post, u32, Region)>,
        waits: Vec<Vec<Post>>,
        worked_on: Vec<Region>,
        looks: usize,
    }

    impl Transport for Recorder {
        type Error = Infallible;

        fn send(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Infallible> {
            self.sends.push((post, peer, region));
            Ok(())
        }

        fn receive(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Infallible> {
            self.receives.push((post, peer, region));
            Ok(())
        }

        fn wait(&mut self, posts: &[Post]) -> Result<(), Infallible> {
            self.waits.push(posts.to_vec());
            Ok(())
        }

        fn test(&mut self, posts: &[Post]) -> Result<bool, Infallible> {
            self.looks += 1;
            if self.looks.is_multiple_of(2) {
                self.waits.push(posts.to_vec());
            }
            Ok(self.looks.is_multiple_of(2))
        }

        fn copy(&mut self, source: Region, target: Region) -> Result<(), Infallible> {
            self.worked_on.extend([source, target]);
            Ok(())
        }

        fn reduce(&mut self, left: Region, right: Region, target: Region) -> Result<(), Infallible> {
            self.worked_on.extend([left, right, target]);
            Ok(())
        }

        fn lend(&mut self, _: Region, _: u32, _: LentCopy) -> Result<(), Infallible> {
            unreachable!("there are no slots")
        }

        fn notify(&mut self, _: u32) -> Result<(), Infallible> {
            unreachable!("there are no slots")
        }

        fn is_notified(&mut self, _: u32, _: u32, _: u32) -> Result<bool, Infallible> {
            unreachable!("there are no slots")
        }

        fn await_notification(&mut self, _: u32, _: u32, _: u32) -> Result<(), Infallible> {
            unreachable!("there are no slots")
        }

        fn are_slots_free(&mut self) -> Result<bool, Infallible> {
            unreachable!("there are no slots")
        }

        fn await_free_slots(&mut self) -> Result<(), Infallible> {
            unreachable!("there are no slots")
        }

        fn end_stripe(&mut self) {
            unreachable!("there are no slots")
        }
    }

    fn plans(collective: Collective, name: &str, size: usize, count: usize) -> [Plan; 2] {
        let problem = Problem { window: 3, ..Problem::new(size) };
        let schedule = collective.algorithm(name).unwrap().schedule(&problem, size / 3);
        let counts = Counts::One { count, bytes: 4 };
        let binding = bind(collective, size / 3, schedule.blocks, &counts, &counts);
        [usize::MAX, 0].map(|most_unrolled| Plan::with_loops(&schedule, &binding, most_unrolled))
    }

    /// Returns what a plan does. `waits` chooses between blocking waits and tests that are repeated until they succeed.
    fn carried_out(plan: &Plan, waits: bool) -> Recorder {
        let (mut execution, mut recorder) = (Execution::default(), Recorder::default());
        match waits {
            true => execution.finish(plan, &mut recorder).unwrap_or_else(|never| match never {}),
            false => while let Ok(false) = execution.advance(plan, &mut recorder) {},
        }
        recorder
    }

    #[test]
    fn loops_that_are_bound_later_do_the_same() {
        for (collective, name) in [
            (Collective::Alltoall, "linear_window"),
            (Collective::Alltoall, "spread_out"),
            (Collective::Allgather, "ring"),
            (Collective::Allreduce, "ring"),
            (Collective::ReduceScatterBlock, "pairwise"),
        ] {
            for size in [5, 12, 13] {
                let [at_once, later] = plans(collective, name, size, 50);
                assert!(at_once.loops.is_empty() && !later.loops.is_empty(), "{name}");
                let circle = later.posts as Post;
                for waits in [true, false] {
                    let [mut expected, found] = [&at_once, &later].map(|plan| carried_out(plan, waits));
                    let posts = expected.sends.iter_mut().chain(&mut expected.receives);
                    posts.for_each(|(post, _, _)| *post %= circle);
                    expected.waits.iter_mut().flatten().for_each(|post| *post %= circle);
                    assert_eq!(found, expected, "{name} on {size}");
                }
                let temporary =
                    |plan: &Plan| (plan.scratch_elements, plan.spare_elements, plan.staging_bytes);
                assert_eq!(temporary(&later), temporary(&at_once), "{name} on {size}");
            }
        }
    }

    #[test]
    fn scratch_memory_that_stays_is_packed_in_loops_too() {
        let packed = |mut plan: Plan| {
            plan.pack_scratch();
            plan
        };
        let [at_once, later] = plans(Collective::ReduceScatterBlock, "pairwise", 13, 50).map(packed);
        assert_eq!([&at_once, &later].map(|plan| plan.scratch_elements), [50; 2]);
        assert!(later.loops[0].keeps_scratch());
        let regions = |plan| {
            let Recorder { receives, worked_on, .. } = carried_out(plan, true);
            (receives.into_iter().map(|(_, _, region)| region).collect::<Vec<_>>(), worked_on)
        };
        assert_eq!(regions(&later), regions(&at_once));
        for size in [100, 1000] {
            let pairwise = Collective::ReduceScatterBlock.algorithm("pairwise").unwrap();
            let schedule = pairwise.schedule(&Problem::new(size), size - 1);
            let counts = Counts::One { count: 50, bytes: 4 };
            let binding = bind(Collective::ReduceScatterBlock, size - 1, size, &counts, &counts);
            assert_eq!(Plan::new(&schedule, &binding).scratch_elements, 50);
        }
        let [_, ring] = plans(Collective::ReduceScatterBlock, "ring", 13, 50);
        assert!(!ring.loops[0].keeps_scratch());
    }

    /// In the third iteration the target is the left operand.
    #[test]
    fn a_loop_has_memory_for_all_its_reductions() {
        let text = "rank 0 of 1, 4 blocks\nrepeat 3 times\n\
                    reduce recv[2] = recv[0] + scratch[0]; each time blocks +0 +1 +0\nend\n";
        let schedule: Schedule = text.parse().unwrap();
        let counts = Counts::One { count: 20, bytes: 4 };
        let binding = bind(Collective::Allreduce, 0, 4, &counts, &counts);
        for most_unrolled in [usize::MAX, 0] {
            assert_eq!(Plan::with_loops(&schedule, &binding, most_unrolled).spare_elements, 5);
        }
    }

    #[test]
    fn what_uses_slots_is_bound_as_a_whole() {
        let ring = Collective::Allgather.algorithm("ring").unwrap().schedule(&Problem::new(8), 3);
        let counts = Counts::One { count: 5, bytes: 4 };
        let binding = bind(Collective::Allgather, 3, 8, &counts, &counts);
        for (slots, loops) in [(0, 1), (1, 0)] {
            let schedule = Schedule { slots, ..ring.clone() };
            assert_eq!(Plan::with_loops(&schedule, &binding, 0).loops.len(), loops);
        }
    }

    #[test]
    fn no_more_requests_are_needed_than_are_under_way() {
        for (name, posts) in [("linear_window", 2 * 3), ("spread_out", 2 * 99)] {
            let [_, later] = plans(Collective::Alltoall, name, 100, 1);
            assert_eq!(later.posts, posts, "{name}");
        }
        let [_, ring] = plans(Collective::Allgather, "ring", 100, 1);
        assert_eq!((ring.posts, ring.operations.len() + ring.loops[0].program.steps.len()), (2, 8));
    }
}
