//! Traces what the ranks do in each step of a run, and what blocks hold after it. Guides draw it.
//!
//! The ranks run in lockstep, as [`crate::cost::Cost::rounds`] counts. In each beat they first go on to their
//! next waits, copying and reducing. Then messages travel, at most one from and one to each rank. Each half
//! in which something happens is a step. Programs need not be right: a block that was never written holds
//! nothing, and ranks that wait forever stop.

#![forbid(unsafe_code)]

mod drawing;
mod memory;
mod values;

pub use values::{Value, ValueNumber, Values};

use crate::algorithms::{Collective, Problem};
use crate::cost::one_port::{Lockstep, ReadyMessage};
use crate::schedule::{Buffer, Message, Post, Run, Schedule, Step};
use crate::verify::{self, Violation};
use memory::BlockContents;

/// A run of all ranks.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The values that blocks hold.
    pub values: Values,
    /// What blocks hold before the first step.
    pub given: Vec<Write>,
    /// The steps in their order.
    pub steps: Vec<Moment>,
    /// Whether all ranks come to the ends of their programs.
    pub has_ended: bool,
}

/// A step of all ranks.
#[derive(Clone, Debug)]
pub struct Moment {
    pub event: Event,
    /// The blocks that are read and hold something.
    pub reads: Vec<BlockAddress>,
    /// The blocks that are written, each at most once.
    pub writes: Vec<Write>,
}

/// What happens in a step.
#[derive(Clone, Debug)]
pub enum Event {
    /// Ranks work on their own memory and that of their nodes: copies, reductions and flags. Each is a rank
    /// and a position in its program.
    Work(Vec<(usize, usize)>),
    /// Messages travel.
    Messages(Vec<Travel>),
}

/// A message that travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Travel {
    pub source: usize,
    pub target: usize,
    /// The blocks that are sent.
    pub from: Message,
    /// The blocks that they are received into.
    pub into: Message,
}

/// A block of a rank's buffer. A slot belongs to the rank that owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockAddress {
    pub rank: usize,
    pub buffer: Buffer,
    pub block: usize,
}

/// A block and what is written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The block.
    pub place: BlockAddress,
    /// What the block then holds; `None` if what was read held nothing.
    pub value: Option<ValueNumber>,
    pub how: How,
}

/// How a value gets into a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is the rank's input.
    Given,
    /// By a message.
    Moved,
    /// From another block of the rank, or from a slot.
    Copied,
    /// As the result of a reduction.
    Reduced,
}

impl Trace {
    /// Follows the schedules of all ranks, rank 0's first. Fails if one of them makes no sense by itself.
    /// Does not check whether all together are right.
    pub fn new(
        collective: Collective,
        problem: &Problem,
        schedules: &[Schedule],
    ) -> Result<Trace, Violation> {
        let schedules = &Schedule::all_unrolled(schedules)[..];
        verify::check_programs(collective, problem, schedules)?;
        let mut memory = BlockContents::default();
        let given = memory.fill(collective, problem, schedules);
        let messages: Vec<Vec<&Message>> = schedules.iter().map(posted).collect();
        let mut lockstep = Lockstep::new(schedules);
        let mut steps = Vec::new();
        for beat in lockstep.by_ref() {
            steps.extend(memory.work(schedules, &beat));
            let travels = beat.messages.iter().map(|ready| Travel::of(&messages, ready)).collect();
            steps.extend(memory.travel(travels));
        }
        Ok(Trace { values: memory.into_values(), given, steps, has_ended: lockstep.has_ended() })
    }
}

/// Returns the messages of a program's posts, by their numbers.
fn posted(schedule: &Schedule) -> Vec<&Message> {
    fn message(step: &Step) -> Option<&Message> {
        match step {
            Step::Send { message, .. } | Step::Receive { message, .. } => Some(message),
            _ => None,
        }
    }
    schedule.steps.iter().filter_map(message).collect()
}

impl Travel {
    fn of(messages: &[Vec<&Message>], ready: &ReadyMessage) -> Travel {
        let &ReadyMessage { source, target, send, receive, .. } = ready;
        let message = |rank: usize, post: Post| messages[rank][post as usize].clone();
        Travel { source, target, from: message(source, send), into: message(target, receive) }
    }
}

impl BlockAddress {
    /// Returns the blocks of a run in the program of `rank`.
    fn of(rank: usize, run: Run) -> impl Iterator<Item = BlockAddress> {
        let rank = if let Buffer::Shared(owner) = run.buffer { owner as usize } else { rank };
        run.indices().map(move |block| BlockAddress { rank, buffer: run.buffer, block })
    }

    /// Returns the blocks of a message in the order in which they travel.
    fn of_message(rank: usize, message: &Message) -> impl Iterator<Item = BlockAddress> {
        message.runs().flat_map(move |run| BlockAddress::of(rank, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::REGISTRY;
    use crate::cost::Cost;
    use crate::verify::problems;

    fn trace(collective: Collective, name: &str, problem: &Problem) -> Trace {
        let schedules = collective.algorithm(name).unwrap().programs(problem);
        Trace::new(collective, problem, &schedules).unwrap()
    }

    fn messages(trace: &Trace) -> Vec<usize> {
        let travelling = |step: &Moment| match &step.event {
            Event::Messages(messages) => Some(messages.len()),
            Event::Work(_) => None,
        };
        trace.steps.iter().filter_map(travelling).collect()
    }

    /// What a block holds at the end.
    fn last(trace: &Trace, place: BlockAddress) -> Option<String> {
        let writes = trace.steps.iter().flat_map(|step| &step.writes);
        let last = trace.given.iter().chain(writes).rfind(|write| write.place == place)?;
        last.value.map(|value| trace.values.text(value))
    }

    #[test]
    fn bruck_rotates_exchanges_digit_by_digit_and_rotates_back() {
        let trace = trace(Collective::Alltoall, "bruck", &Problem { radix: 2, ..Problem::new(8) });
        let kinds: Vec<_> = trace.steps.iter().map(|step| matches!(step.event, Event::Work(_))).collect();
        assert_eq!(kinds, [true, false, false, false, true]);
        let place = BlockAddress { rank: 3, buffer: Buffer::Recv, block: 5 };
        assert_eq!(last(&trace, place).as_deref(), Some("block 3 of rank 5"));
    }

    #[test]
    fn spread_out_sends_a_block_in_each_step() {
        let trace = trace(Collective::Alltoall, "spread_out", &Problem::new(5));
        assert_eq!(messages(&trace), [5; 4]);
    }

    #[test]
    fn the_ring_that_saves_messages_does_so() {
        for (size, saved) in [(8, 44), (10, 75)] {
            let trace = trace(Collective::Bcast, "scatter_ring_allgather_opt", &Problem::new(size));
            let scatter = size - 1;
            assert_eq!(messages(&trace).iter().sum::<usize>(), scatter + saved);
        }
    }

    #[test]
    fn reductions_are_expressions() {
        let trace = trace(Collective::Allreduce, "recursive_doubling", &Problem::new(4));
        for rank in 0..4 {
            let place = BlockAddress { rank, buffer: Buffer::Recv, block: 0 };
            assert_eq!(last(&trace, place).as_deref(), Some("block 0 of (0 ⊕ 1) ⊕ (2 ⊕ 3)"));
        }
    }

    #[test]
    fn every_algorithm_can_be_followed_to_its_end_in_as_many_rounds_as_it_costs() {
        for algorithm in REGISTRY {
            for size in [2, 5, 8] {
                for problem in problems(algorithm, size) {
                    let schedules = algorithm.programs(&problem);
                    let trace = Trace::new(algorithm.contract(), &problem, &schedules).unwrap();
                    assert!(trace.has_ended);
                    let rounds = messages(&trace).len();
                    let cost = Cost::count(&schedules);
                    assert!(rounds <= cost.rounds, "{} {problem:?}", algorithm.name);
                    assert!(algorithm.takes_shared_memory() || rounds == cost.rounds, "{}", algorithm.name);
                }
            }
        }
    }

    #[test]
    fn programs_that_wait_for_ever_are_followed_as_far_as_they_go() {
        let problem = Problem::new(2);
        let wait = "rank 0 of 2, 1 blocks\n0: receive from 1 into recv[0]\nwait 0";
        let texts = [wait.to_string(), wait.replace("rank 0", "rank 1").replace("from 1", "from 0")];
        let schedules: Vec<Schedule> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let trace = Trace::new(Collective::Bcast, &problem, &schedules).unwrap();
        assert!(!trace.has_ended && trace.steps.is_empty());
    }
}
