//! Runs the programs of all ranks symbolically.
//!
//! Progress is the slowest that MPI allows: a send completes only after its receive was posted. Who deadlocks here may
//! deadlock with long messages; who does not never will.

use super::matching::{Ends, Matching};
use super::memory::{Memory, single_blocks};
use super::values::{Value, Values};
use super::violation::{Fault, Violation};
use crate::algorithms::{Collective, Problem};
use crate::schedule::{Post, Run, Schedule, Step};
use std::collections::HashSet;
use std::ops::Range;

/// What the ranks' memories hold after all programs have ended.
pub struct Outcome {
    /// How many blocks a buffer is cut into, at most.
    pub blocks: usize,
    /// The memory of each rank.
    pub memories: Vec<Memory>,
    /// What the memories' values mean.
    pub values: Values,
    /// In a barrier, the ranks of which each rank has heard, directly or through others.
    heard: Vec<Option<HashSet<usize>>>,
}

impl Outcome {
    /// One of the others of which `rank` has not heard.
    pub fn unheard(&self, rank: usize, mut others: Range<usize>) -> Option<usize> {
        let heard = self.heard[rank].as_ref()?;
        others.find(|other| !heard.contains(other))
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
    let is_barrier = collective == Collective::Barrier;
    let start = |schedule: &Schedule| {
        let mut memory = Memory::new(blocks, schedule.scratch_blocks());
        if let Some((buffer, input)) = collective.input(problem, schedule.rank, blocks) {
            let values = input.clone().map(|block| values.input(schedule.rank, block));
            memory.fill(buffer, input.start, values);
        }
        let heard = is_barrier.then(|| HashSet::from([schedule.rank]));
        let posts = schedule.posts();
        Process {
            memory,
            step: 0,
            posted: 0,
            travelling: vec![Vec::new(); posts],
            heard,
            news: vec![None; posts],
        }
    };
    let processes = schedules.iter().map(start).collect();
    let mut execution = Execution { schedules, matching, processes, values };
    execution.run()?;
    let ends = execution.processes.into_iter().map(|process| (process.memory, process.heard));
    let (memories, heard) = ends.unzip();
    Ok(Outcome { blocks, memories, values: execution.values, heard })
}

struct Execution<'a> {
    schedules: &'a [Schedule],
    matching: &'a Matching,
    processes: Vec<Process>,
    values: Values,
}

/// The state of one rank.
struct Process {
    memory: Memory,
    /// The next step.
    step: usize,
    /// How many posts were posted: all those with lower numbers.
    posted: Post,
    /// For each send that is posted and not yet received what it carries.
    travelling: Vec<Vec<Value>>,
    /// In a barrier, the ranks of which this one has heard.
    heard: Option<HashSet<usize>>,
    /// For each send, the ranks of which its receiver will hear.
    news: Vec<Option<HashSet<usize>>>,
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
        self.execute(rank, &self.schedules[rank].steps[position]).map_err(Violation::at(rank, position))
    }

    fn execute(&mut self, rank: usize, step: &Step) -> Result<(), Fault> {
        let Process { memory, posted, travelling, heard, news, .. } = &mut self.processes[rank];
        match step {
            Step::Send { post, message, .. } => {
                *posted += 1;
                travelling[*post as usize] = memory.begin_send(message)?;
                news[*post as usize] = heard.clone();
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
            Step::Notify { .. } | Step::Await { .. } => todo!(),
            Step::Copy { source, target } => copy(memory, *source, *target),
            Step::Reduce { left, right, target } => {
                reduce(memory, &mut self.values, (*left, *right), *target)
            }
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
                receiver.heard.iter_mut().for_each(|heard| heard.extend(news.iter().flatten()));
            }
            _ => unreachable!("not a post"),
        }
    }

    fn check_ended(&self) -> Result<(), Violation> {
        let waiting: Vec<(usize, usize, Vec<Step>)> =
            (0..self.schedules.len()).filter_map(|rank| self.waiting(rank)).collect();
        match waiting.first() {
            Some(&(rank, step, _)) => Err(Violation::at(rank, step)(Fault::Deadlock(waiting))),
            None => Ok(()),
        }
    }

    /// The rank, the wait in which it is stuck, and the posts there that no peer meets.
    fn waiting(&self, rank: usize) -> Option<(usize, usize, Vec<Step>)> {
        let Some(Step::Wait { posts }) = self.next_step(rank) else { return None };
        let unmet = posts.iter().filter(|&&post| !self.is_met(rank, post));
        let source =
            |post: &Post| self.schedules[rank].steps[self.matching[rank][*post as usize].step].clone();
        Some((rank, self.processes[rank].step, unmet.map(source).collect()))
    }
}

fn copy(memory: &mut Memory, source: Run, target: Run) -> Result<(), Fault> {
    for (source, target) in single_blocks(source).zip(single_blocks(target)) {
        let value = memory.read(source)?;
        memory.write(target, value)?;
    }
    Ok(())
}

fn reduce(
    memory: &mut Memory,
    values: &mut Values,
    (left, right): (Run, Run),
    target: Run,
) -> Result<(), Fault> {
    let operands = single_blocks(left).zip(single_blocks(right));
    for ((left, right), target) in operands.zip(single_blocks(target)) {
        let (first, second) = (memory.read(left)?, memory.read(right)?);
        let value = values.combine(first, second);
        let in_common = || Fault::ContributesTwice(target, values.describe(first), values.describe(second));
        memory.write(target, value.ok_or_else(in_common)?)?;
    }
    Ok(())
}
