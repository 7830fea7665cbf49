//! How several algorithms over shared memory use slots. A rank shows data in its own slots and reads other
//! ranks' slots. Ranks start with different peers, so they do not all read the same memory at once.

use crate::algorithms::Requirement;
use crate::schedule::{Buffer, Builder, Run, Schedule, SlotKind};
use std::ops::Range;

/// Shows each other rank its block of `parts`, in the slot with the reader's number. In [`collect`] the rank
/// just below reads first, so its block is shown first.
pub fn show_parts((rank, size): (usize, usize), parts: Buffer, program: &mut Builder) {
    for distance in 1..size {
        let reader = (rank + size - distance) % size;
        program.publish(parts.block(reader), reader);
    }
}

/// Copies what each other rank shows to that rank's block of `parts`, the next rank's first.
pub fn collect(
    (rank, size): (usize, usize),
    slot_of: impl Fn(usize) -> usize,
    parts: Buffer,
    program: &mut Builder,
) {
    for distance in 1..size {
        let owner = (rank + distance) % size;
        let shown = program.await_slot(owner, slot_of(owner));
        program.copy(shown, parts.block(owner));
    }
}

/// The source of collectives by single copies.
pub const SOURCE_OF_SINGLE_COPIES: &str =
    "the collectives over KNEM (Ma et al. 2011) and over Cross Memory Attach (Chakraborty et al. 2017)";

pub const NEEDS_OF_SINGLE_COPIES: &[Requirement] =
    &[Requirement::OneNode, Requirement::SharedMemory, Requirement::SingleCopy];

/// Requirements of collectives by single copies whose ranks first exchange the lengths of blocks.
pub const NEEDS_OF_SINGLE_COPIES_WITH_LENGTHS: &[Requirement] =
    &[Requirement::OneNode, Requirement::SharedMemory, Requirement::SingleCopy, Requirement::LongestBlock];

/// Makes ranks publish where their blocks lie instead of copying them to slots.
pub fn lent(program: Schedule) -> Schedule {
    Schedule { slot_kind: SlotKind::Lent, ..program }
}

/// The contributions of all ranks to one block, as one rank finds them.
pub struct Contributions {
    pub rank: usize,
    /// Where this rank's contribution lies.
    pub own: Run,
    /// The slot in which the other ranks show theirs.
    pub slot: usize,
}

impl Contributions {
    /// Combines the contributions of consecutive ranks, from the last rank down, so operators leave each partial result
    /// in `sum`. The final result goes to `result`. The own contribution may lie in `sum` if this rank is the last one.
    pub fn combine(&self, ranks: Range<usize>, sum: Run, result: Run, program: &mut Builder) {
        let first = ranks.start;
        let mut right = self.of(ranks.end - 1, program);
        if ranks.len() == 1 {
            return program.copy(right, result);
        }
        for other in ranks.rev().skip(1) {
            let left = self.of(other, program);
            let target = if other == first { result } else { sum };
            program.reduce(left, right, target);
            right = target;
        }
    }

    fn of(&self, other: usize, program: &mut Builder) -> Run {
        if other == self.rank { self.own } else { program.await_slot(other, self.slot) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Buffer::*;

    fn text(write: impl FnOnce(&mut Builder)) -> String {
        let mut program = Builder::new(1, 4, 4).slots(4);
        write(&mut program);
        let program = program.build().to_string();
        program.lines().skip(1).map(str::trim).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_part_is_shown_the_earlier_the_earlier_it_is_read() {
        let place_in = |text: &str, step: &str| text.lines().position(|line| line == step).unwrap();
        let shown = text(|program| show_parts((1, 4), Send, program));
        // Rank 1 is the first that rank 0 reads from, the second for rank 3, the last for rank 2.
        let places = [0, 3, 2].map(|reader| place_in(&shown, &format!("notify {reader}")));
        assert!(places.is_sorted(), "{shown}");
        let read = text(|program| collect((1, 4), |_| 1, Recv, program));
        assert_eq!(read.lines().count(), 6, "{read}");
        let places =
            [2, 3, 0].map(|owner| place_in(&read, &format!("copy shared{owner}[1] to recv[{owner}]")));
        assert!(places.is_sorted(), "{read}");
    }

    #[test]
    fn contributions_are_combined_from_the_last_one_on() {
        let contributions = Contributions { rank: 1, own: Send.block(2), slot: 3 };
        let combine = |ranks| {
            text(|program| contributions.combine(ranks, Recv.block(2), Buffer::of_rank(1).block(2), program))
        };
        assert_eq!(
            combine(0..4).lines().filter(|line| line.starts_with("reduce")).collect::<Vec<_>>(),
            [
                "reduce recv[2] = shared2[3] + shared3[3]",
                "reduce recv[2] = send[2] + recv[2]",
                "reduce shared1[2] = shared0[3] + recv[2]",
            ]
        );
        assert_eq!(combine(1..2), "copy send[2] to shared1[2]");
    }
}
