//! Leaves out of a plan's scratch memory what the plan never touches.
//!
//! The number of a scratch block tells its length: that of a vector's block. An algorithm that needs one block of each of
//! many vectors names blocks that lie vectors apart, and would take memory for all of them.

use super::{Loop, Memory, Operation, Plan, Rows};
use crate::schedule::Buffer;
use std::ops::Range;
use std::sync::Arc;

impl Plan {
    /// Moves the parts of scratch memory that are used together, in their order. In loops, scratch runs must not move.
    pub(super) fn pack_scratch(&mut self) {
        let mut used: Vec<Range<usize>> = self.loops.iter().flat_map(Loop::scratch).collect();
        for operation in &mut self.operations {
            each_in_scratch(operation, |_, elements| used.push(elements));
        }
        let packed = Packed::of(used);
        self.scratch_elements = packed.elements();
        packed.place(&mut self.operations);
        let packed = Arc::new(packed);
        self.loops.iter_mut().for_each(|repeated| repeated.pack(packed.clone()));
    }
}

/// The parts of scratch memory that are used, ascending, each with the place that it gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Packed(Vec<(Range<usize>, usize)>);

impl Packed {
    fn of(mut used: Vec<Range<usize>>) -> Packed {
        used.sort_unstable_by_key(|elements| elements.start);
        let mut parts: Vec<(Range<usize>, usize)> = Vec::new();
        for elements in used {
            match parts.last_mut() {
                Some((part, _)) if elements.start <= part.end => part.end = part.end.max(elements.end),
                last => {
                    let place = last.map_or(0, |(part, place)| *place + part.len());
                    parts.push((elements, place));
                }
            }
        }
        Packed(parts)
    }

    fn elements(&self) -> usize {
        self.0.last().map_or(0, |(part, place)| place + part.len())
    }

    /// Gives the regions of operations their places.
    pub fn place(&self, operations: &mut [Operation]) {
        let place_of = |offset: usize| {
            let (part, place) = &self.0[self.0.partition_point(|(part, _)| part.end <= offset)];
            place + (offset - part.start)
        };
        for operation in operations {
            each_in_scratch(operation, |offset, _| *offset = place_of(*offset));
        }
    }
}

/// Visits the offset of each of an operation's regions in scratch memory, with the elements from the first to the last that
/// its rows have there.
fn each_in_scratch(operation: &mut Operation, mut visit: impl FnMut(&mut usize, Range<usize>)) {
    let mut look = |memory: Memory, offset: &mut usize, elements: usize, rows: Rows<1>| {
        if memory == Memory::Buffer(Buffer::Scratch) {
            let last = rows.last(*offset);
            let elements = last.min(*offset)..last.max(*offset) + elements;
            visit(offset, elements);
        }
    };
    match operation {
        Operation::Send { region, .. }
        | Operation::Receive { region, .. }
        | Operation::Lend { region, .. } => {
            look(region.memory, &mut region.offset, region.elements, Rows::ONE);
        }
        Operation::Copy { source, target, rows } => {
            for (region, rows) in [source, target].into_iter().zip(rows.columns()) {
                look(region.memory, &mut region.offset, region.elements, rows);
            }
        }
        Operation::Reduce { left, right, target, elements, rows } => {
            for (location, rows) in [left, right, target].into_iter().zip(rows.columns()) {
                look(location.memory, &mut location.offset, *elements, rows);
            }
        }
        Operation::Wait { .. }
        | Operation::Notify { .. }
        | Operation::Await { .. }
        | Operation::Repeat { .. }
        | Operation::AwaitSlots
        | Operation::EndStripe { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Binding, Memory, Operation, Plan, View};
    use crate::schedule::{Buffer, Builder, Layout, Message};

    fn plan(program: Builder) -> Plan {
        Plan::new(&program.build(), &Binding::uniform(View::new(Layout::Uniform { elements: 10 }, 4)))
    }

    #[test]
    fn one_block_of_each_vector_takes_the_memory_of_these_blocks() {
        let mut program = Builder::new(0, 3, 100);
        for vector in 0..3 {
            program.receive(1, Buffer::Scratch.block(100 * vector + 7));
        }
        program.end_round();
        program.reduce(Buffer::Scratch.block(207), Buffer::Scratch.block(7), Buffer::Scratch.block(107));
        let plan = plan(program);
        assert_eq!(plan.scratch_elements, 30);
        let Some(&Operation::Reduce { left, right, target, elements, .. }) = plan.operations.last() else {
            panic!("the last operation reduces")
        };
        assert_eq!(([left, right, target].map(|place| place.offset), elements), ([20, 0, 10], 10));
    }

    #[test]
    fn what_is_used_together_stays_together() {
        let mut program = Builder::new(0, 2, 100);
        program.copy(Buffer::Send.block(0), Buffer::Scratch.block(150));
        program.copy(Buffer::Send.block(1), Buffer::Scratch.block(151));
        program.send(1, Buffer::Scratch.blocks(150..152));
        program.end_round();
        let descending: Message = (0..3).map(|row| Buffer::Scratch.block(120 - 10 * row)).collect();
        program.send(1, descending);
        let plan = plan(program);
        assert_eq!(plan.scratch_elements, 210 + 20);
        let offsets = plan.operations.iter().filter_map(|operation| match operation {
            Operation::Send { region, .. } => Some(region.offset),
            Operation::Copy { source, rows, .. } if rows.number() > 1 => Some(source.offset),
            _ => None,
        });
        assert_eq!(offsets.collect::<Vec<_>>(), [210, 200, 0]);
        let staged = |operation: &Operation| matches!(operation, Operation::Copy { target, .. } if target.memory == Memory::Staging);
        assert_eq!(plan.operations.iter().filter(|one| staged(one)).count(), 1);
    }
}
