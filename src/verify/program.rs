//! What a rank's program must satisfy on its own.

use super::violation::{Fault, Misfit, Violation};
use crate::algorithms::{Collective, Cut, Problem};
use crate::engine::SlotBounds;
use crate::schedule::{Buffer, MOST_TIMES, Message, Post, Run, Schedule, SlotKind, Step};
use std::iter;

/// Checks every program by itself: its header, its posts and waits, and the runs it names.
pub fn check(collective: Collective, problem: &Problem, schedules: &[Schedule]) -> Result<(), Violation> {
    if schedules.len() != problem.size {
        return Err(Violation::of(0)(Fault::ScheduleCount(schedules.len())));
    }
    for (rank, schedule) in schedules.iter().enumerate() {
        let blocks = match collective.cut() {
            Cut::Ranks | Cut::Pairs => problem.size,
            Cut::Edges => problem.graph.neighbours(rank).blocks(),
            Cut::Vector => schedules[0].blocks.max(1),
        };
        let Schedule { slots, slot_kind, .. } = schedules[0];
        let rules = Rules { collective, problem, blocks, slots, slot_kind };
        rules.check_header(rank, schedule).map_err(Violation::of(rank))?;
        rules.check_steps(schedule)?;
        check_posts(schedule)?;
        check_flags(schedule)?;
    }
    Ok(())
}

/// Checks that blocks can be moved one by one. Blocks that differ in size only fit blocks of the same number,
/// or scratch blocks that hold a copy of them. Those of an alltoall and of a reduce_scatter_block are all
/// alike. Where pairs of ranks or edges differ, the result shows whether a block came to its own place.
pub fn check_fit(
    collective: Collective,
    blocks: usize,
    source: impl Iterator<Item = Run> + Clone,
    target: impl Iterator<Item = Run> + Clone,
) -> Result<(), Misfit> {
    let are_alike =
        matches!(collective.cut(), Cut::Pairs | Cut::Edges) || collective == Collective::ReduceScatterBlock;
    let shapes = if are_alike { 1 } else { blocks };
    match shape(source.clone(), shapes).eq(shape(target.clone(), shapes)) {
        true => Ok(()),
        false => Err(Misfit { source: source.collect(), target: target.collect() }),
    }
}

/// Returns for each block which of `shapes` sizes it has.
fn shape(runs: impl Iterator<Item = Run>, shapes: usize) -> impl Iterator<Item = usize> {
    runs.flat_map(|run| run.indices()).map(move |index| index % shapes)
}

struct Rules<'a> {
    collective: Collective,
    problem: &'a Problem,
    blocks: usize,
    slots: usize,
    slot_kind: SlotKind,
}

impl Rules<'_> {
    fn check_header(&self, rank: usize, schedule: &Schedule) -> Result<(), Fault> {
        if (schedule.rank, schedule.size) != (rank, self.problem.size) {
            return Err(Fault::Identity(schedule.rank, schedule.size));
        }
        if schedule.blocks != self.blocks {
            return Err(Fault::Blocks(schedule.blocks, self.blocks));
        }
        let (found, expected) = ((schedule.slots, schedule.slot_kind), (self.slots, self.slot_kind));
        let most = SlotBounds::slots(self.problem.size);
        match found == expected {
            true if self.slots > most => Err(Fault::TooManySlots(self.slots, most)),
            true if self.slots > 0 && self.problem.remote > 0 => Err(Fault::SlotsOfTwoGroups),
            true => Ok(()),
            false => Err(Fault::Slots(found, expected)),
        }
    }

    fn check_steps(&self, schedule: &Schedule) -> Result<(), Violation> {
        for (position, step) in schedule.steps.iter().enumerate() {
            self.check_step(schedule.rank, step).map_err(Violation::at(schedule.rank, position))?;
        }
        Ok(())
    }

    fn check_step(&self, rank: usize, step: &Step) -> Result<(), Fault> {
        match step {
            Step::Send { peer, message, .. } => {
                self.check_peer(rank, *peer)?;
                check_private(message)?;
                message.runs().try_for_each(|run| self.check_readable(rank, run))
            }
            Step::Receive { peer, message, .. } => {
                self.check_peer(rank, *peer)?;
                check_private(message)?;
                message.runs().try_for_each(|run| self.check_writable(rank, run))
            }
            Step::Wait { .. } => Ok(()),
            Step::Notify { slot } => self.check_slot(*slot),
            Step::Await { rank: owner, slot, times } => {
                self.check_peer(rank, *owner)?;
                self.check_owner(rank, *owner)?;
                self.check_slot(*slot)?;
                if (1..=MOST_TIMES).contains(times) { Ok(()) } else { Err(Fault::Times(*times)) }
            }
            Step::Copy { source, target } => {
                check_any_private(&[*source, *target])?;
                self.check_readable(rank, *source)?;
                self.check_writable(rank, *target)?;
                check_disjoint(*source, *target)?;
                self.check_fit(*source, *target)
            }
            Step::Reduce { left, right, target } => {
                check_not_lent(self.slot_kind, &[*left, *right, *target])?;
                self.check_reduction(rank, *left, *right, *target)
            }
        }
    }

    fn check_reduction(&self, rank: usize, left: Run, right: Run, target: Run) -> Result<(), Fault> {
        if !self.collective.reduces() {
            return Err(Fault::NoOperator);
        }
        check_any_private(&[left, right, target])?;
        self.check_writable(rank, target)?;
        for operand in [left, right] {
            self.check_readable(rank, operand)?;
            self.check_fit(operand, target)?;
            if operand != target {
                check_disjoint(operand, target)?;
            }
        }
        check_disjoint(left, right)?;
        self.check_fit(left, right)
    }

    fn check_peer(&self, rank: usize, peer: u32) -> Result<(), Fault> {
        match (peer as usize) < self.problem.size && peer as usize != rank {
            true => Ok(()),
            false => Err(Fault::Peer(peer, self.problem.size)),
        }
    }

    fn check_writable(&self, rank: usize, run: Run) -> Result<(), Fault> {
        self.check_readable(rank, run)?;
        match run.buffer {
            Buffer::Send => Err(Fault::SendBufferWritten(run)),
            Buffer::Shared(owner) if owner as usize != rank => Err(Fault::NotOwner(run)),
            Buffer::Recv | Buffer::Scratch | Buffer::Shared(_) => Ok(()),
        }
    }

    fn check_readable(&self, rank: usize, run: Run) -> Result<(), Fault> {
        let existing = match run.buffer {
            Buffer::Send => self.collective.send_blocks(self.problem, rank, self.blocks),
            Buffer::Recv => self.collective.recv_blocks(self.problem, rank, self.blocks),
            Buffer::Scratch => return self.check_inseparable(rank, run),
            Buffer::Shared(owner) => {
                self.check_owner(rank, owner)?;
                0..self.slots
            }
        };
        let named = run.indices();
        match run.buffer {
            Buffer::Send if existing.is_empty() => Err(Fault::NoSendBuffer(run)),
            _ if named.start < existing.start || named.end > existing.end => {
                Err(Fault::OutOfRange(run, existing))
            }
            Buffer::Shared(_) => Ok(()),
            _ => self.check_inseparable(rank, run),
        }
    }

    fn check_inseparable(&self, rank: usize, run: Run) -> Result<(), Fault> {
        let together = self.collective.inseparable_blocks(self.problem, rank);
        let parts = |block: usize| (together.start + 1..together.end).contains(&(block % self.blocks));
        let named = run.indices();
        if parts(named.start) || parts(named.end) { Err(Fault::Parted(run)) } else { Ok(()) }
    }

    /// Checks that blocks fit. Only a read shows which block a slot holds, unless the slot has the number of
    /// the block.
    fn check_fit(&self, source: Run, target: Run) -> Result<(), Fault> {
        let checked = match self.slot_kind != SlotKind::Together && (is_slot(source) || is_slot(target)) {
            true if source.count == target.count => Ok(()),
            true => Err(Misfit { source: source.into(), target: target.into() }),
            false => check_fit(self.collective, self.blocks, iter::once(source), iter::once(target)),
        };
        checked.map_err(Fault::Misfit)
    }

    fn check_slot(&self, slot: u32) -> Result<(), Fault> {
        if (slot as usize) < self.slots { Ok(()) } else { Err(Fault::NoSlot(slot, self.slots)) }
    }

    /// Checks that a rank sees the slots of another one. If nothing is known of nodes, all ranks are on one.
    fn check_owner(&self, rank: usize, owner: u32) -> Result<(), Fault> {
        let nodes = &self.problem.nodes;
        match owner as usize {
            owner if owner >= self.problem.size => Err(Fault::Peer(owner as u32, self.problem.size)),
            owner if nodes.of(owner) != nodes.of(rank) => Err(Fault::OtherNode(owner)),
            _ => Ok(()),
        }
    }
}

fn is_slot(run: Run) -> bool {
    matches!(run.buffer, Buffer::Shared(_))
}

fn check_private(message: &Message) -> Result<(), Fault> {
    let slot = message.runs().find(|run| is_slot(*run));
    slot.map_or(Ok(()), |run| Err(Fault::SlotInMessage(run)))
}

/// Refuses lent slots: they hold the place of a block, which can be copied only.
fn check_not_lent(kind: SlotKind, runs: &[Run]) -> Result<(), Fault> {
    let lent = runs.iter().find(|&&run| kind == SlotKind::Lent && is_slot(run));
    lent.map_or(Ok(()), |&run| Err(Fault::LentReduced(run)))
}

/// Refuses steps between slots alone: the other run tells how long a slot is.
fn check_any_private(runs: &[Run]) -> Result<(), Fault> {
    if runs.iter().all(|&run| is_slot(run)) { Err(Fault::OnlySlots(runs[0])) } else { Ok(()) }
}

/// Checks that no flag is raised more often than flags can count.
fn check_flags(schedule: &Schedule) -> Result<(), Violation> {
    let mut times = vec![0; schedule.slots];
    for (position, step) in schedule.steps.iter().enumerate() {
        if let Step::Notify { slot } = step {
            times[*slot as usize] += 1;
            if times[*slot as usize] > MOST_TIMES {
                return Err(Violation::at(schedule.rank, position)(Fault::Times(MOST_TIMES + 1)));
            }
        }
    }
    Ok(())
}

fn check_disjoint(first: Run, second: Run) -> Result<(), Fault> {
    if first.overlaps(second) { Err(Fault::Overlap(first, second)) } else { Ok(()) }
}

/// Checks that posts are numbered in program order, and that each is waited for once, after it was posted.
fn check_posts(schedule: &Schedule) -> Result<(), Violation> {
    let mut posts = Posts::default();
    for (position, step) in schedule.steps.iter().enumerate() {
        let checked = match step {
            Step::Send { post, .. } | Step::Receive { post, .. } => posts.post(*post, position),
            Step::Wait { posts: waited } => waited.iter().try_for_each(|&post| posts.wait(post)),
            _ => Ok(()),
        };
        checked.map_err(Violation::at(schedule.rank, position))?;
    }
    match posts.outstanding() {
        Some((post, position)) => Err(Violation::at(schedule.rank, position)(Fault::NeverWaited(post))),
        None => Ok(()),
    }
}

/// For each post so far, the step that posted it, until a wait for the post.
#[derive(Default)]
struct Posts(Vec<Option<usize>>);

impl Posts {
    fn post(&mut self, post: Post, position: usize) -> Result<(), Fault> {
        let expected = self.0.len() as Post;
        self.0.push(Some(position));
        if post == expected { Ok(()) } else { Err(Fault::PostNumber(post, expected)) }
    }

    fn wait(&mut self, post: Post) -> Result<(), Fault> {
        let position = self.0.get_mut(post as usize).ok_or(Fault::NotPosted(post))?;
        position.take().map(|_| ()).ok_or(Fault::WaitedTwice(post))
    }

    fn outstanding(&self) -> Option<(Post, usize)> {
        let mut posts = self.0.iter().zip(0..);
        posts.find_map(|(position, post)| position.map(|position| (post, position)))
    }
}
