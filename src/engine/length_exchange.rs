//! Calls in two stages: before the data can move, the ranks tell each other lengths of blocks.
//!
//! The first stage is a plan like any other, over numbers. The lengths of all blocks travel by the very schedule that is
//! to bring the blocks, so that each number comes to lie where its block will; the longest block is found by an allreduce.
//! What the first stage leaves behind completes the binding of the second.

use super::{Binding, Plan, View};
use crate::algorithms::{Algorithm, Problem, RECURSIVE_DOUBLING_ALLREDUCE, Requirement};
use crate::schedule::{Buffer, Builder, Layout, Run, Schedule, Step};
use std::sync::{Arc, Mutex};

/// The first stage of one rank's calls of one shape, and what the second is planned from.
///
/// Schedules of both stages are verified, each for itself. They need no more tags than one: a rank begins the second stage
/// when its first is complete, so between two ranks all messages of the first precede those of the second.
#[derive(Debug)]
pub struct LengthExchange {
    /// The first stage. It touches nothing but its receive buffer, of 64-bit numbers; its operator is the maximum.
    pub plan: Plan,
    /// What that buffer holds before, in bytes: the lengths of all blocks of the send buffer, of scratch memory and of the
    /// receive buffer as far as the rank knows them; or only, in the last place, the length of its longest block.
    pub numbers: Vec<u64>,
    /// Of the second stage.
    schedule: Arc<Schedule>,
    /// What the call's arguments say.
    binding: Binding,
    is_padded: bool,
    /// The last answer. Programs repeat themselves.
    last: Mutex<Option<(Vec<u64>, Arc<DataPlan>)>>,
}

/// The second stage.
#[derive(Debug)]
pub struct DataPlan {
    /// What moves the data.
    pub plan: Plan,
    /// Whether a block is longer than its place in the receive buffer, so that only its beginning is delivered.
    pub is_truncated: bool,
}

impl LengthExchange {
    /// The exchange that must precede a schedule of the algorithm, if any; `binding` is what the arguments say.
    pub fn new(algorithm: &Algorithm, schedule: &Arc<Schedule>, binding: &Binding) -> Option<LengthExchange> {
        let requires = |requirement| algorithm.requires.contains(&requirement);
        let is_padded = requires(Requirement::LongestBlock);
        let is_needed = is_padded || requires(Requirement::BlockLengths);
        is_needed.then(|| {
            let lengths = |buffer: Buffer| {
                (0..schedule.blocks).map(move |block| binding.bytes(buffer.block(block)) as u64)
            };
            let (sent, received) = (lengths(Buffer::Send), lengths(Buffer::Recv));
            let (plan, numbers) = match is_padded {
                true => {
                    let problem = Problem { in_place: true, ..Problem::new(schedule.size) };
                    let allreduce = RECURSIVE_DOUBLING_ALLREDUCE.schedule(&problem, schedule.rank);
                    first_stage(allreduce, [0], [sent.chain(received).max().unwrap_or(0)])
                }
                false => first_stage(Schedule::clone(schedule), sent, received),
            };
            let (schedule, binding) = (Arc::clone(schedule), binding.clone());
            LengthExchange { plan, numbers, schedule, binding, is_padded, last: Mutex::default() }
        })
    }

    /// The second stage, from what the first left in its receive buffer.
    pub fn data(&self, numbers: &[u64]) -> Arc<DataPlan> {
        let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &*last {
            Some((known, plan)) if known == numbers => Arc::clone(plan),
            _ => {
                let planned = Arc::new(self.planned(numbers));
                *last = Some((numbers.to_vec(), Arc::clone(&planned)));
                planned
            }
        }
    }

    fn planned(&self, numbers: &[u64]) -> DataPlan {
        if self.is_padded {
            let longest = numbers.last().map_or(0, |&longest| longest as usize);
            let plan = self.plan_with(&self.schedule, Layout::Uniform { elements: longest });
            return DataPlan { plan, is_truncated: false };
        }
        // After the lengths of scratch blocks, those of what arrives, for the case that it has to go to scratch as well.
        let blocks = self.schedule.blocks;
        let scratch = Layout::packed(numbers[blocks..].iter().map(|&length| length as usize));
        let [arriving, expected] = [numbers, &self.numbers].map(|numbers| &numbers[numbers.len() - blocks..]);
        let plan = match arriving == expected {
            true => self.plan_with(&self.schedule, scratch),
            false => self.plan_with(&with_results_in_scratch(Schedule::clone(&self.schedule)), scratch),
        };
        let is_truncated = arriving.iter().zip(expected).any(|(arriving, expected)| arriving > expected);
        DataPlan { plan, is_truncated }
    }

    /// A plan with bytes in scratch memory.
    fn plan_with(&self, schedule: &Schedule, scratch: Layout) -> Plan {
        Plan::new(schedule, &Binding { scratch: View::new(scratch, 1), ..self.binding.clone() })
    }
}

/// A schedule over one buffer of numbers, in which the blocks of the send buffer are followed by those of scratch memory,
/// which are zero at first, and those of the receive buffer.
fn first_stage(
    schedule: Schedule,
    sent: impl IntoIterator<Item = u64>,
    received: impl IntoIterator<Item = u64>,
) -> (Plan, Vec<u64>) {
    let (blocks, scratch) = (schedule.blocks, schedule.scratch_blocks());
    let numbers = sent.into_iter().chain(std::iter::repeat_n(0, scratch)).chain(received).collect();
    let start = |buffer| match buffer {
        Buffer::Send => 0,
        Buffer::Scratch => blocks,
        Buffer::Recv => blocks + scratch,
        Buffer::Shared(_) => unreachable!("slots are for blocks of known lengths"),
    };
    let moved = schedule.map_runs(|run| moved_to(run, Buffer::Recv, start(run.buffer)));
    let number = View::new(Layout::Uniform { elements: 1 }, size_of::<u64>());
    (Plan::new(&moved, &Binding::uniform(number)), numbers)
}

/// The same program, which brings its results to scratch blocks behind those that it uses, and from there to the receive
/// buffer: whatever the sender says of a block, its place in the receive buffer is what the receiver says.
fn with_results_in_scratch(mut schedule: Schedule) -> Schedule {
    let first = schedule.scratch_blocks();
    let aside = |run: Run| match run.buffer {
        Buffer::Recv => moved_to(run, Buffer::Scratch, first),
        Buffer::Send | Buffer::Scratch | Buffer::Shared(_) => run,
    };
    let mut results = Builder::new(schedule.rank, schedule.size, schedule.blocks);
    let mut deliver = |run: Run| {
        for block in run.indices().filter(|_| run.buffer == Buffer::Recv) {
            results.copy(Buffer::Scratch.block(first + block), Buffer::Recv.block(block));
        }
    };
    for step in &mut schedule.steps {
        match step {
            Step::Receive { message, .. } => {
                message.runs().iter().copied().for_each(&mut deliver);
                *message = message.runs().iter().copied().map(aside).collect();
            }
            Step::Copy { target, .. } => {
                deliver(*target);
                *target = aside(*target);
            }
            Step::Send { .. }
            | Step::Wait { .. }
            | Step::Reduce { .. }
            | Step::Notify { .. }
            | Step::Await { .. } => {}
        }
    }
    schedule.then(results.build())
}

/// A run of as many blocks, so many further on in a buffer.
fn moved_to(run: Run, buffer: Buffer, start: usize) -> Run {
    buffer.blocks(start + run.indices().start..start + run.indices().end)
}
