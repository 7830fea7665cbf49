//! What the ranks of a node do in the slots that they share, written for their numbers there; the first one leads.
//!
//! A rank's slots bear the numbers of blocks. No rank writes a slot in more than one of the phases that follow each other, so
//! these share slots: they declare none, which [`with_slots`] does for the whole.

use crate::algorithms::Problem;
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};
use std::ops::Range;

/// A rank that shows many blocks, one after the other, raises so many flags at most: enough for others to read the first
/// blocks while it writes the next.
const MOST_FLAGS: usize = 64;

/// How many of so many are shown together, with one flag.
fn in_each_group(all: usize) -> usize {
    all.div_ceil(MOST_FLAGS).max(1)
}

/// Those of many that are shown together, with one flag.
pub fn groups(all: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let each = in_each_group(all.len());
    all.clone().step_by(each).map(move |first| first..(first + each).min(all.end))
}

/// The leader combines the contributions of all in the receive buffer, out of their order; the others show theirs.
pub fn combine_at_leader(local: usize, population: usize, blocks: usize, contribution: Buffer) -> Schedule {
    let mut program = Builder::new(local, population, blocks);
    for group in groups(0..blocks) {
        let part = |buffer: Buffer| buffer.blocks(group.clone());
        if local > 0 {
            program.publish(part(contribution), group.start);
            continue;
        }
        let mut combined = part(contribution);
        for member in 1..population {
            program.await_slot(member, group.start);
            // The result takes the place of the right operand, where operators leave it.
            program.reduce(part(Buffer::of_rank(member)), combined, part(Recv));
            combined = part(Recv);
        }
    }
    program.build()
}

/// The others get what the leader holds in a buffer.
pub fn hand_out(local: usize, population: usize, blocks: usize, held: Buffer) -> Schedule {
    let mut program = Builder::new(local, population, blocks);
    for group in groups(0..blocks) {
        let part = |buffer: Buffer| buffer.blocks(group.clone());
        match local {
            0 if population == 1 => {}
            0 => program.publish(part(held), group.start),
            _ => {
                program.await_slot(0, group.start);
                program.copy(part(Buffer::of_rank(0)), part(Recv));
            }
        }
    }
    program.build()
}

/// Each rank combines its slices, of `width` blocks each, of the contributions of all in the receive buffer, out of their order. The ranks own
/// slices in turn.
pub fn combine_slices(
    local: usize,
    population: usize,
    slices: usize,
    width: usize,
    contribution: Buffer,
) -> Schedule {
    let mut program = Builder::new(local, population, slices * width);
    let part = |buffer: Buffer, slice: usize| buffer.blocks(slice * width..(slice + 1) * width);
    // In the order in which the others read, each of whom begins with the next rank.
    for owner in (1..population).map(|distance| (local + population - distance) % population) {
        for slice in (owner..slices).step_by(population) {
            program.publish(part(contribution, slice), slice * width);
        }
    }
    for slice in (local..slices).step_by(population) {
        let mut combined = part(contribution, slice);
        for other in (1..population).map(|distance| (local + distance) % population) {
            program.await_slot(other, slice * width);
            let shown = part(Buffer::of_rank(other), slice);
            program.reduce(shown, combined, part(Recv, slice));
            combined = part(Recv, slice);
        }
    }
    program.build()
}

/// Each rank shows its slices of the receive buffer and gets the others'. A rank's slots of its own slices were not needed by
/// [`combine_slices`].
pub fn hand_out_slices(local: usize, population: usize, slices: usize, width: usize) -> Schedule {
    let mut program = Builder::new(local, population, slices * width);
    let part = |buffer: Buffer, slice: usize| buffer.blocks(slice * width..(slice + 1) * width);
    if population > 1 {
        for slice in (local..slices).step_by(population) {
            program.publish(part(Recv, slice), slice * width);
        }
    }
    for other in (1..population).map(|distance| (local + distance) % population) {
        for slice in (other..slices).step_by(population) {
            program.await_slot(other, slice * width);
            program.copy(part(Buffer::of_rank(other), slice), part(Recv, slice));
        }
    }
    program.build()
}

/// A program of such phases; ranks have no slots where none shares a node with another.
pub fn with_slots(slots: usize, most_members: usize, program: Schedule) -> Schedule {
    Schedule { slots: if most_members > 1 { slots } else { 0 }, ..program }
}

/// The same where slots bear the numbers of blocks, which are shown in [`groups`].
pub fn with_slots_of_blocks(most_members: usize, program: Schedule) -> Schedule {
    let blocks = program.blocks;
    joined(in_each_group(blocks), with_slots(blocks, most_members, program))
}

/// The same where slots bear the numbers of blocks, which are shown in slices of so many.
pub fn with_slots_of_slices(width: usize, most_members: usize, program: Schedule) -> Schedule {
    joined(width, with_slots(program.blocks, most_members, program))
}

/// Slots lie together if several blocks are shown together. A single short one is better off beside its flag.
fn joined(together: usize, program: Schedule) -> Schedule {
    Schedule { joined_slots: program.slots > 0 && together > 1, ..program }
}

/// Into how many segments a vector is cut: each has a slot, of which a rank has not many more than two for each rank.
pub fn segments(problem: &Problem) -> usize {
    problem.segments.min(2 * problem.size)
}
