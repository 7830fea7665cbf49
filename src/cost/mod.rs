//! The cost of a collective: [`Cost`] counts rounds, messages and blocks in the schedules of all ranks;
//! [`simulation`] predicts times on a machine. `tests/cost.rs` compares the counts with the closed forms of
//! papers.

#![forbid(unsafe_code)]

pub mod machine;
pub(crate) mod one_port;
pub mod simulation;

pub use machine::{Beyond, ByteTime, Groups, Link, Machine, Port, Processor, Shared, Stages};
pub use simulation::{Prediction, simulate};

use crate::algorithms::{Collective, Problem};
use crate::schedule::{Buffer, Run, Schedule, Step};
use crate::verify::{self, Violation};

/// What the busiest ranks do in one run of a schedule. Each number is a separate maximum over the ranks.
///
/// If ranks must first exchange the lengths of blocks, this is the cost of moving the blocks alone. A run of
/// the same schedule over the lengths, or the allreduce that finds the longest, comes on top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Steps until all ranks are done, if in each step a rank sends at most one message and receives at most
    /// one. This is the latency in units of a message: the critical path and the queues before the ranks'
    /// ports. A round of several messages counts as several. Copies and reductions take no time.
    ///
    /// A message takes the same step at both of its ends, and may travel once both have posted it. Of those
    /// that may, a rank sends the one that it posted first. A rank receives the one that has been its
    /// sender's next for longest; of several, the one that it posted first.
    pub rounds: usize,
    /// Messages that a rank sends, or receives if those are more.
    pub messages: usize,
    /// Blocks that a rank sends, or receives if those are more. A block is one of the pieces that the
    /// schedule cuts a vector into, or the part of a rank or of a pair of ranks.
    pub blocks: usize,
    /// Blocks that a rank computes by reduction.
    pub reduced: usize,
    /// Blocks that a rank reads in slots of other ranks; a block that it reads twice counts twice.
    pub read: usize,
}

impl Cost {
    /// Counts what the schedules of all ranks do, rank 0's first.
    ///
    /// Panics if the schedules deadlock; verified schedules do not.
    pub fn count(schedules: &[Schedule]) -> Cost {
        Cost::of(schedules).unwrap_or_else(|deadlock| panic!("{deadlock}"))
    }

    /// As [`Cost::count`], of schedules that need not be right. Fails if one of them makes no sense by itself,
    /// or if they deadlock.
    pub fn count_unverified(
        collective: Collective,
        problem: &Problem,
        schedules: &[Schedule],
    ) -> Result<Cost, Violation> {
        verify::check_programs(collective, problem, schedules)?;
        Cost::of(schedules)
    }

    fn of(schedules: &[Schedule]) -> Result<Cost, Violation> {
        let schedules = &Schedule::all_unrolled(schedules)[..];
        let most = |count: fn(&Schedule) -> usize| schedules.iter().map(count).max().unwrap_or(0);
        Ok(Cost {
            rounds: one_port::steps(schedules)?,
            messages: most(Schedule::messages_sent).max(most(|schedule| received(schedule).0)),
            blocks: most(Schedule::blocks_sent).max(most(|schedule| received(schedule).1)),
            reduced: most(Schedule::blocks_reduced),
            read: most(read),
        })
    }

    /// Returns the numbers with their names.
    pub fn fields(self) -> [(&'static str, usize); 5] {
        [
            ("rounds", self.rounds),
            ("messages", self.messages),
            ("blocks", self.blocks),
            ("reduced", self.reduced),
            ("read", self.read),
        ]
    }
}

/// Messages and blocks that a rank receives.
fn received(schedule: &Schedule) -> (usize, usize) {
    schedule.steps.iter().fold((0, 0), |(messages, blocks), step| match step {
        Step::Receive { message, .. } => (messages + 1, blocks + message.blocks()),
        _ => (messages, blocks),
    })
}

/// Blocks that a rank reads in slots of other ranks.
fn read(schedule: &Schedule) -> usize {
    let own = Buffer::of_rank(schedule.rank);
    let is_of_others = |run: &Run| matches!(run.buffer, Buffer::Shared(_)) && run.buffer != own;
    // A rank never writes slots of others: a run in such a slot is read.
    let runs = schedule.steps.iter().flat_map(Step::runs);
    runs.filter(is_of_others).map(|run| run.count as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Builder;

    #[test]
    fn what_others_have_in_slots_is_counted_where_it_is_read() {
        // Rank 1 copies once and reduces once out of a slot of rank 0.
        let program = |rank| {
            let mut program = Builder::new(rank, 2, 2).slots(1);
            if rank == 0 {
                program.publish(Buffer::Send.block(0), 0);
                program.copy(Buffer::of_rank(0).block(0), Buffer::Recv.block(0));
            } else {
                let slot = program.await_slot(0, 0);
                program.copy(slot, Buffer::Recv.block(0));
                program.reduce(slot, Buffer::Send.block(1), Buffer::Recv.block(1));
            }
            program.build()
        };
        assert_eq!(
            Cost::count(&[0, 1].map(program)),
            Cost { rounds: 1, reduced: 1, read: 2, ..Cost::default() }
        );
    }

    /// What is wrong with a bcast on two ranks whose programs `write` writes.
    fn fault_of(write: impl Fn(usize, &mut Builder)) -> String {
        let program = |rank| {
            let mut program = Builder::new(rank, 2, 1);
            write(rank, &mut program);
            program.build()
        };
        let counted = Cost::count_unverified(Collective::Bcast, &Problem::new(2), &[0, 1].map(program));
        counted.unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_counted_is_told() {
        assert_eq!(
            fault_of(|rank, program| {
                program.receive(1 - rank, Buffer::Recv.block(0));
            }),
            "rank 0, step 1: deadlock; rank 0, step 1 waits for receive of recv[0] from rank 1 (post 0); \
             rank 1, step 1 waits for receive of recv[0] from rank 0 (post 0)"
        );
        assert_eq!(
            fault_of(|_, program| {
                program.send(5, Buffer::Recv.block(0));
            }),
            "rank 0, step 0: there is no rank 5 among 2 ranks"
        );
        assert_eq!(
            fault_of(|_, program| program.wait([7])),
            "rank 0, step 0: wait for post 7, which is not posted"
        );
    }
}
