//! What the ranks of a node do in the slots that they share. Programs are written for the ranks' numbers on
//! the node; number 0 leads.
//!
//! A rank's slots have the numbers of blocks. No rank writes a slot in more than one of successive phases, so
//! phases share slots. A phase declares none; [`with_slots`] declares them for the whole program.

use super::knomial_tree::nearest_first;
use crate::algorithms::Problem;
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule, SlotKind};
use std::ops::Range;

/// The most flags that a rank raises for blocks shown one after the other. With this number, other ranks can
/// read the first blocks while the rank writes the next.
const MOST_FLAGS: usize = 64;

/// Returns how many of `all` blocks share a flag.
fn in_each_group(all: usize) -> usize {
    all.div_ceil(MOST_FLAGS).max(1)
}

/// Cuts a range of blocks into groups that are shown together, with one flag.
pub fn groups(all: Range<usize>) -> impl DoubleEndedIterator<Item = Range<usize>> + Clone {
    let each = in_each_group(all.len());
    all.clone().step_by(each).map(move |first| first..(first + each).min(all.end))
}

/// Combines all contributions in the leader's receive buffer, out of their order, up the k-nomial tree of `radix`. The
/// blocks are shown in `groups`, one flag each. A rank with several children keeps partial sums in its receive buffer.
pub fn combine_at_leader(
    local: usize,
    population: usize,
    radix: usize,
    groups: impl DoubleEndedIterator<Item = Range<usize>> + Clone,
    contribution: Buffer,
) -> Schedule {
    let children = nearest_first(local, population, radix);
    let blocks = groups.clone().next_back().map_or(0, |last| last.end);
    let mut program = Builder::new(local, population, blocks);
    for group in groups {
        let part = |buffer: Buffer| buffer.blocks(group.clone());
        let mut combined = part(contribution);
        for (number, &child) in children.iter().enumerate() {
            let is_shown = local > 0 && number + 1 == children.len();
            let sum = part(if is_shown { Buffer::of_rank(local) } else { Recv });
            program.await_slot(child, group.start);
            // The sum overwrites the right operand, where MPI's operators leave it.
            program.reduce(part(Buffer::of_rank(child)), combined, sum);
            combined = sum;
        }
        if local > 0 {
            program.publish(combined, group.start);
        }
    }
    program.build()
}

/// The other ranks copy what the leader holds in the buffer `held`.
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

/// Each rank combines its slices, of `width` blocks each, of all contributions in the receive buffer, out of
/// their order. The ranks own slices in turn.
pub fn combine_slices(
    local: usize,
    population: usize,
    slices: usize,
    width: usize,
    contribution: Buffer,
) -> Schedule {
    let mut program = Builder::new(local, population, slices * width);
    let part = |buffer: Buffer, slice: usize| buffer.blocks(slice * width..(slice + 1) * width);
    // Slices are shown in the order in which the others read them. Each reader starts with the next rank.
    let show = |program: &mut Builder, owner: usize| {
        for slice in (owner..slices).step_by(population) {
            program.publish(part(contribution, slice), slice * width);
        }
    };
    let is_one_each = slices == population;
    each(&mut program, is_one_each, 0..local, |program, place| show(program, local - 1 - place));
    each(&mut program, is_one_each, local + 1..population, |program, place| {
        show(program, population + local - place);
    });
    for slice in (local..slices).step_by(population) {
        let combine = |program: &mut Builder, other: usize, combined: Buffer| {
            program.await_slot(other, slice * width);
            let shown = part(Buffer::of_rank(other), slice);
            program.reduce(shown, part(combined, slice), part(Recv, slice));
        };
        let mut others = others(local, population);
        let first = others.iter_mut().find_map(Iterator::next);
        first.into_iter().for_each(|first| combine(&mut program, first, contribution));
        others
            .into_iter()
            .for_each(|others| program.repeat(others, |program, other| combine(program, other, Recv)));
    }
    program.build()
}

/// Each rank shows its slices of the receive buffer and copies the other ranks' slices. It shows them in
/// slots that [`combine_slices`] does not use.
pub fn hand_out_slices(local: usize, population: usize, slices: usize, width: usize) -> Schedule {
    let mut program = Builder::new(local, population, slices * width);
    if population > 1 {
        show_slices(&mut program, local, (population, slices, width));
    }
    for others in others(local, population) {
        fetch_slices(&mut program, others, (population, slices, width));
    }
    program.build()
}

/// The leader copies the slices that the others show in slots that [`combine_slices`] does not use.
pub fn collect_slices(local: usize, population: usize, slices: usize, width: usize) -> Schedule {
    let mut program = Builder::new(local, population, slices * width);
    match local {
        0 => fetch_slices(&mut program, 1..population, (population, slices, width)),
        _ => show_slices(&mut program, local, (population, slices, width)),
    }
    program.build()
}

fn show_slices(program: &mut Builder, local: usize, (population, slices, width): (usize, usize, usize)) {
    for slice in (local..slices).step_by(population) {
        program.publish(Recv.blocks(slice * width..(slice + 1) * width), slice * width);
    }
}

fn fetch_slices(
    program: &mut Builder,
    others: Range<usize>,
    (population, slices, width): (usize, usize, usize),
) {
    each(program, slices == population, others, |program, other| {
        for slice in (other..slices).step_by(population) {
            let blocks = slice * width..(slice + 1) * width;
            program.await_slot(other, slice * width);
            program.copy(Buffer::of_rank(other).blocks(blocks.clone()), Recv.blocks(blocks));
        }
    });
}

/// Returns the other ranks: those behind `local`, then those before. Each range is a loop where slices are even.
fn others(local: usize, population: usize) -> [Range<usize>; 2] {
    [local + 1..population, 0..local]
}

/// Runs `one` for each number, as a loop if `is_even` says that each number takes equally many steps.
fn each(program: &mut Builder, is_even: bool, numbers: Range<usize>, one: impl Fn(&mut Builder, usize)) {
    match is_even {
        true => program.repeat(numbers, one),
        false => numbers.for_each(|number| one(program, number)),
    }
}

/// Declares the slots of a program of such phases: none if no two ranks share a node.
pub fn with_slots(slots: usize, most_members: usize, program: Schedule) -> Schedule {
    Schedule { slots: if most_members > 1 { slots } else { 0 }, ..program }
}

/// Like [`with_slots`], for slots with the numbers of blocks, which are shown in [`groups`].
pub fn with_slots_of_blocks(most_members: usize, program: Schedule) -> Schedule {
    let blocks = program.blocks;
    joined(in_each_group(blocks), with_slots(blocks, most_members, program))
}

/// Like [`with_slots`], for slots with the numbers of blocks, which are shown in slices of `width` blocks.
pub fn with_slots_of_slices(width: usize, most_members: usize, program: Schedule) -> Schedule {
    joined(width, with_slots(program.blocks, most_members, program))
}

/// Puts slots together if several blocks are shown together. A single short block is faster beside its flag.
fn joined(together: usize, program: Schedule) -> Schedule {
    let is_joined = program.slots > 0 && together > 1;
    Schedule { slot_kind: if is_joined { SlotKind::Together } else { program.slot_kind }, ..program }
}

/// Returns the number of segments of a vector: at most two for each rank, because each segment needs a slot.
pub fn segments(problem: &Problem) -> usize {
    problem.segments.min(2 * problem.size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Buffer::Send;

    const WIDTH: usize = 3;

    fn part(buffer: Buffer, slice: usize) -> crate::schedule::Run {
        buffer.blocks(slice * WIDTH..(slice + 1) * WIDTH)
    }

    /// Returns the other ranks, from the next one on, one by one.
    fn from_the_next(local: usize, population: usize) -> impl DoubleEndedIterator<Item = usize> {
        (1..population).map(move |distance| (local + distance) % population)
    }

    fn combined_step_by_step(local: usize, population: usize, slices: usize) -> Schedule {
        let mut program = Builder::new(local, population, slices * WIDTH);
        for owner in from_the_next(local, population).rev() {
            for slice in (owner..slices).step_by(population) {
                program.publish(part(Send, slice), slice * WIDTH);
            }
        }
        for slice in (local..slices).step_by(population) {
            let mut combined = part(Send, slice);
            for other in from_the_next(local, population) {
                program.await_slot(other, slice * WIDTH);
                program.reduce(part(Buffer::of_rank(other), slice), combined, part(Recv, slice));
                combined = part(Recv, slice);
            }
        }
        program.build()
    }

    fn handed_out_step_by_step(local: usize, population: usize, slices: usize) -> Schedule {
        let mut program = Builder::new(local, population, slices * WIDTH);
        for slice in (local..slices).step_by(population).filter(|_| population > 1) {
            program.publish(part(Recv, slice), slice * WIDTH);
        }
        for other in from_the_next(local, population) {
            for slice in (other..slices).step_by(population) {
                program.await_slot(other, slice * WIDTH);
                program.copy(part(Buffer::of_rank(other), slice), part(Recv, slice));
            }
        }
        program.build()
    }

    #[test]
    fn loops_over_the_ranks_of_a_node_do_what_is_written_step_by_step() {
        for population in [1, 2, 3, 4, 7, 8, 100] {
            for slices in [population, population + 3, 2 * population, 4 * population] {
                for local in [0, 1, population / 3, population / 2, population - 1] {
                    let local = local.min(population - 1);
                    let up = combine_slices(local, population, slices, WIDTH, Send);
                    assert_eq!(up.unrolled(), combined_step_by_step(local, population, slices));
                    let down = hand_out_slices(local, population, slices, WIDTH);
                    assert_eq!(down.unrolled(), handed_out_step_by_step(local, population, slices));
                }
            }
        }
    }

    #[test]
    fn programs_on_full_nodes_are_as_long_for_any_number_of_ranks() {
        let steps = |population| {
            let up = combine_slices(population / 2, population, population, WIDTH, Send);
            up.then(hand_out_slices(population / 2, population, population, WIDTH)).steps.len()
        };
        assert_eq!([16, 64, 128].map(steps), [steps(32); 3]);
    }
}
