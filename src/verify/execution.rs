//! Runs the programs of all ranks symbolically.
//!
//! Progress is the slowest that MPI allows: a send completes only after its receive was posted. Programs that
//! deadlock here may deadlock with long messages; other programs never deadlock.

use super::clock::{Clock, Moment};
use super::matching::{Ends, Matching};
use super::memory::{RankMemory, single_blocks};
use super::program::check_fit;
use super::slots::{Content, Slots};
use super::values::{Function, Value, Values};
use super::violation::{Fault, Violation};
use crate::algorithms::{Collective, Problem};
use crate::schedule::{Buffer, Post, Run, Schedule, Step};
use std::iter;
use std::ops::Range;

/// What the ranks' memories hold after all programs have ended.
pub struct Outcome {
    /// How many blocks a buffer is cut into, at most.
    pub blocks: usize,
    /// The memory of each rank.
    pub memories: Vec<RankMemory>,
    /// What the memories' values mean.
    pub values: Values,
    /// In a barrier or with slots, what each rank has heard of, directly or through others.
    heard: Vec<Option<Clock>>,
}

impl Outcome {
    /// Returns one of `others` of which `rank` has not heard.
    pub fn unheard(&self, rank: usize, mut others: Range<usize>) -> Option<usize> {
        let heard = self.heard[rank].as_ref()?;
        others.find(|&other| other != rank && !heard.has_passed(Moment { rank: other, step: 0 }))
    }
}

/// Runs all programs to their ends.
///
/// The programs must have passed the checks of [`super::program`].
pub fn run(
    collective: Collective,
    problem: &Problem,
    schedules: &[Schedule],
    matching: &Matching,
) -> Result<Outcome, Violation> {
    // Where ranks have different numbers of neighbours, they have different numbers of blocks.
    let blocks = schedules.iter().map(|schedule| schedule.blocks).max().unwrap_or(0);
    let values = Values::new(problem.size, blocks);
    let slots = schedules[0].slots;
    let is_timed = collective == Collective::Barrier || slots > 0;
    let start = |schedule: &Schedule| {
        let mut memory = RankMemory::new(blocks, schedule.scratch_blocks());
        if let Some((buffer, input)) = collective.input(problem, schedule.rank, blocks) {
            let values = input.clone().map(|block| values.input(schedule.rank, block));
            memory.fill(buffer, input.start, values);
        }
        let posts = schedule.posts();
        Process {
            memory,
            step: 0,
            posted: 0,
            travelling: vec![Vec::new(); posts],
            clock: is_timed.then(|| Clock::new(problem.size)),
            news: vec![None; posts],
        }
    };
    let processes = schedules.iter().map(start).collect();
    let slots = Slots::new(problem.size, slots);
    let mut execution = Execution { collective, schedules, matching, processes, slots, values };
    execution.run()?;
    let ends = execution.processes.into_iter().map(|process| (process.memory, process.clock));
    let (memories, heard) = ends.unzip();
    Ok(Outcome { blocks, memories, values: execution.values, heard })
}

struct Execution<'a> {
    collective: Collective,
    schedules: &'a [Schedule],
    matching: &'a Matching,
    processes: Vec<Process>,
    slots: Slots,
    values: Values,
}

/// The state of one rank.
struct Process {
    memory: RankMemory,
    /// The next step.
    step: usize,
    /// How many posts the rank has made: all those with lower numbers.
    posted: Post,
    /// For each send that is posted and not yet received, the values that it carries.
    travelling: Vec<Vec<Value>>,
    /// What has happened before the next step; only in a barrier or with slots.
    clock: Option<Clock>,
    /// For each send, what had happened before; its receiver learns it.
    news: Vec<Option<Clock>>,
}

impl Execution<'_> {
    fn run(&mut self) -> Result<(), Violation> {
        let mut progress = true;
        while progress {
            progress = false;
            for rank in 0..self.schedules.len() {
                while self.may_proceed(rank) {
                    self.proceed(rank)?;
                    progress = true;
                }
            }
        }
        self.check_ended()
    }

    fn may_proceed(&self, rank: usize) -> bool {
        match self.next_step(rank) {
            Some(Step::Wait { posts }) => posts.iter().all(|&post| self.is_met(rank, post)),
            Some(Step::Await { rank, slot, times }) => {
                self.slots.notification(*rank, *slot, *times).is_some()
            }
            Some(_) => true,
            None => false,
        }
    }

    fn next_step(&self, rank: usize) -> Option<&Step> {
        self.schedules[rank].steps.get(self.processes[rank].step)
    }

    fn is_met(&self, rank: usize, post: Post) -> bool {
        let Ends { peer, partner, .. } = self.matching[rank][post as usize];
        partner < self.processes[peer].posted
    }

    fn proceed(&mut self, rank: usize) -> Result<(), Violation> {
        let position = self.processes[rank].step;
        self.processes[rank].step += 1;
        let moment = Moment { rank, step: position };
        self.processes[rank].clock.iter_mut().for_each(|clock| clock.pass(moment));
        self.execute(moment, &self.schedules[rank].steps[position]).map_err(Violation::at(rank, position))
    }

    fn execute(&mut self, moment: Moment, step: &Step) -> Result<(), Fault> {
        let rank = moment.rank;
        let Process { memory, posted, travelling, clock, news, .. } = &mut self.processes[rank];
        match step {
            Step::Send { post, message, .. } => {
                *posted += 1;
                travelling[*post as usize] = memory.begin_send(message)?;
                // Elsewhere a message without data is left out, so messages order no accesses to slots.
                if self.collective == Collective::Barrier {
                    news[*post as usize] = clock.clone();
                }
                Ok(())
            }
            Step::Receive { post, message, .. } => {
                *posted += 1;
                memory.begin_receive(*post, message)
            }
            Step::Wait { posts } => {
                posts.iter().for_each(|&post| self.complete(rank, post));
                Ok(())
            }
            Step::Notify { slot } => {
                self.slots.notify(rank, *slot, known(clock));
                Ok(())
            }
            Step::Await { rank: owner, slot, times } => {
                let notification = self.slots.notification(*owner, *slot, *times);
                clock.iter_mut().zip(notification).for_each(|(clock, notification)| clock.join(notification));
                Ok(())
            }
            Step::Copy { source, target } => self.copy(moment, *source, *target),
            Step::Reduce { left, right, target } => self.reduce(moment, (*left, *right), *target),
        }
    }

    fn complete(&mut self, rank: usize, post: Post) {
        let Ends { step, peer, partner } = self.matching[rank][post as usize];
        match &self.schedules[rank].steps[step] {
            Step::Send { message, .. } => self.processes[rank].memory.end_send(message),
            Step::Receive { message, .. } => {
                let values = std::mem::take(&mut self.processes[peer].travelling[partner as usize]);
                let news = self.processes[peer].news[partner as usize].take();
                let receiver = &mut self.processes[rank];
                receiver.memory.end_receive(message, values);
                receiver.clock.iter_mut().zip(&news).for_each(|(clock, news)| clock.join(news));
            }
            _ => unreachable!("not a post"),
        }
    }

    fn check_ended(&self) -> Result<(), Violation> {
        let waiting = (0..self.schedules.len()).filter_map(|rank| self.waiting(rank)).collect();
        Violation::deadlock(waiting).map_or(Ok(()), Err)
    }

    /// Returns the rank, the step in which it is stuck, and the posts there that no peer meets, or the flag
    /// that is not raised.
    fn waiting(&self, rank: usize) -> Option<(usize, usize, Vec<Step>)> {
        let source =
            |post: &Post| self.schedules[rank].steps[self.matching[rank][*post as usize].step].clone();
        let unmet = match self.next_step(rank)? {
            Step::Wait { posts } => {
                posts.iter().filter(|&&post| !self.is_met(rank, post)).map(source).collect()
            }
            step => vec![step.clone()],
        };
        Some((rank, self.processes[rank].step, unmet))
    }

    fn copy(&mut self, moment: Moment, source: Run, target: Run) -> Result<(), Fault> {
        for (source, target) in single_blocks(source).zip(single_blocks(target)) {
            let like = known_length([source, target]);
            let value = self.read(moment, source, like)?;
            self.write(moment, target, Content { value, like })?;
        }
        Ok(())
    }

    fn reduce(&mut self, moment: Moment, (left, right): (Run, Run), target: Run) -> Result<(), Fault> {
        let reads_slot = is_slot(left) || is_slot(right);
        let function = match reads_slot && target != left && target != right {
            true => Function::ThreeBuffers,
            false => Function::TwoBuffers,
        };
        let operands = single_blocks(left).zip(single_blocks(right));
        for ((left, right), target) in operands.zip(single_blocks(target)) {
            let like = known_length([left, right, target]);
            let (first, second) = (self.read(moment, left, like)?, self.read(moment, right, like)?);
            let values = &mut self.values;
            let value = values.combine(first, second, function).ok_or_else(|| {
                Fault::CannotCombine(target, values.describe(first), values.describe(second))
            })?;
            self.write(moment, target, Content { value, like })?;
        }
        Ok(())
    }

    /// Reads a run of one block, which must be as long as `like`.
    fn read(&mut self, moment: Moment, run: Run, like: Run) -> Result<Value, Fault> {
        let Process { memory, clock, .. } = &self.processes[moment.rank];
        let Buffer::Shared(owner) = run.buffer else { return memory.read(run) };
        let content = self.slots.read(owner, run, moment, known(clock))?;
        check_fit(self.collective, self.schedules[0].blocks, iter::once(content.like), iter::once(like))
            .map_err(|misfit| Fault::SlotMisfit(run, misfit))?;
        Ok(content.value)
    }

    /// Writes a run of one block.
    fn write(&mut self, moment: Moment, run: Run, content: Content) -> Result<(), Fault> {
        let Process { memory, clock, .. } = &mut self.processes[moment.rank];
        match run.buffer {
            Buffer::Shared(owner) => self.slots.write(owner, run, moment, known(clock), content),
            _ => memory.write(run, content.value),
        }
    }
}

fn known(clock: &Option<Clock>) -> &Clock {
    clock.as_ref().expect("where there are slots there are clocks")
}

fn is_slot(run: Run) -> bool {
    matches!(run.buffer, Buffer::Shared(_))
}

/// Returns a run outside slots: its length is known without having seen what was written to slots.
fn known_length<const N: usize>(runs: [Run; N]) -> Run {
    runs.into_iter().find(|&run| !is_slot(run)).expect("slots meet other memory only")
}
