//! Checks programs whose ranks learn lengths of blocks before the data move.

use super::memory::{message_blocks, single_blocks};
use super::violation::{Fault, Violation};
use crate::algorithms::Requirement;
use crate::schedule::{Buffer, Message, Run, Schedule, Step};
use std::collections::HashSet;

/// Checks every program by itself, as the requirements of its algorithm demand.
pub fn check(requires: &[Requirement], schedules: &[Schedule]) -> Result<(), Violation> {
    for requirement in requires {
        let check = match requirement {
            Requirement::BlockLengths => lengths_come_by_messages,
            Requirement::LongestBlock => messages_hold_scratch_blocks,
            _ => continue,
        };
        schedules.iter().try_for_each(check)?;
    }
    Ok(())
}

/// Refuses slots: a rank that reads in a slot has to know its length.
fn lengths_come_by_messages(schedule: &Schedule) -> Result<(), Violation> {
    match schedule.slots {
        0 => each_block_is_written_once(schedule),
        _ => Err(Violation::of(schedule.rank)(Fault::SlotsOfUnknownLengths)),
    }
}

/// Checks that each block is written once. Then a program over lengths leaves in a block the length of what a
/// program over data brings there. Also checks that results are not read: they may be kept elsewhere if they
/// do not fit.
fn each_block_is_written_once(schedule: &Schedule) -> Result<(), Violation> {
    let mut written = HashSet::new();
    for (position, step) in schedule.steps.iter().enumerate() {
        let (read, writes) = accesses(step);
        let reads_result = |run: &Run| run.buffer == Buffer::Recv && written.contains(run);
        let fault = match read.into_iter().find(reads_result) {
            Some(run) => Some(Fault::ResultRead(run)),
            None => writes.into_iter().find(|&run| !written.insert(run)).map(Fault::WrittenTwice),
        };
        fault.map_or(Ok(()), Err).map_err(Violation::at(schedule.rank, position))?;
    }
    Ok(())
}

/// Checks that messages hold scratch blocks only: only these are padded, so that they are equally long on all
/// ranks. Blocks pass slots unpadded, so the lengths that the same schedule brings to a receive buffer must
/// be those of the data.
fn messages_hold_scratch_blocks(schedule: &Schedule) -> Result<(), Violation> {
    if schedule.slots > 0 {
        each_block_is_written_once(schedule)?;
    }
    for (position, step) in schedule.steps.iter().enumerate() {
        if let Step::Send { message, .. } | Step::Receive { message, .. } = step {
            let unpadded = message.runs().find(|run| run.buffer != Buffer::Scratch);
            let fault = unpadded.map(Fault::Unpadded);
            fault.map_or(Ok(()), Err).map_err(Violation::at(schedule.rank, position))?;
        }
    }
    Ok(())
}

/// Returns the blocks that a step reads and those that it writes.
fn accesses(step: &Step) -> (Vec<Run>, Vec<Run>) {
    let blocks = |message: &Message| message_blocks(message).collect();
    match step {
        Step::Send { message, .. } => (blocks(message), Vec::new()),
        Step::Receive { message, .. } => (Vec::new(), blocks(message)),
        Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => (Vec::new(), Vec::new()),
        Step::Copy { source, target } => (single_blocks(*source).collect(), single_blocks(*target).collect()),
        Step::Reduce { left, right, target } => {
            let read = single_blocks(*left).chain(single_blocks(*right));
            (read.collect(), single_blocks(*target).collect())
        }
    }
}
