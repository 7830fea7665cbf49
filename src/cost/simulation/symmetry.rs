//! Programs that are equal except for the numbers of ranks, so that a few stand for all.

use super::program::{Program, Signal};
use crate::random::Random;
use std::collections::BTreeSet;

/// Turns the program of rank r < `period` into that of a rank whole periods further on: every rank in it
/// moves as far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symmetry {
    size: usize,
    period: usize,
    movement: Movement,
    /// Whether slots have the numbers of ranks, and move as ranks do.
    moves_slots: bool,
}

/// How a rank moves by a multiple of the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movement {
    /// Adds the multiple, modulo the number of ranks.
    Translation,
    /// By exclusive or with the multiple.
    ExclusiveOr,
}

/// How many random multiples of the period are sampled besides near and far ones.
const RANDOM_SHIFTS: usize = 8;

/// A period has at most so many ranks, or nodes.
pub const MOST_UNITS: usize = 8;

/// How many random ranks of a longer period are sampled besides the first two and the last.
const RANDOM_MEMBERS: usize = 2;

impl Symmetry {
    /// Each rank stands for itself alone: programs need not be alike.
    pub fn none(size: usize) -> Symmetry {
        Symmetry { size, period: size, movement: Movement::Translation, moves_slots: false }
    }

    /// Returns the symmetries in which the first `period` ranks stand for all.
    pub fn of_period(size: usize, period: usize) -> impl Iterator<Item = Symmetry> {
        let movements = [Movement::Translation, Movement::ExclusiveOr].into_iter();
        let all = movements.flat_map(move |movement| {
            [false, true].map(|moves_slots| Symmetry { size, period, movement, moves_slots })
        });
        all.filter_map(Symmetry::checked).filter(|symmetry| symmetry.is_exact())
    }

    /// Returns the symmetry whose representatives are whole groups of `group` ranks; `None` if these would
    /// not be fewer than all.
    pub fn coarser(self, group: usize) -> Option<Symmetry> {
        let period = match (group, self.period) {
            (group, period) if group.is_multiple_of(period) => group,
            (group, period) if period.is_multiple_of(group) => period,
            (group, period) => group.saturating_mul(period),
        };
        Symmetry { period, ..self }.checked()
    }

    fn checked(self) -> Option<Symmetry> {
        let Symmetry { size, period, movement, .. } = self;
        let is_possible = period < size
            && (movement == Movement::Translation || (size.is_power_of_two() && period.is_power_of_two()));
        is_possible.then_some(self)
    }

    /// Returns how many ranks stand for all.
    pub fn period(self) -> usize {
        self.period
    }

    pub fn size(self) -> usize {
        self.size
    }

    /// Returns for how many ranks each representative stands, rounded down.
    fn copies(self) -> usize {
        self.size / self.period
    }

    /// Whether the period divides the number of ranks. Otherwise the last node has fewer ranks than the
    /// others, and is treated as if it were full.
    pub fn is_exact(self) -> bool {
        self.size.is_multiple_of(self.period)
    }

    /// Returns the rank that stands for a rank.
    pub fn representative(self, rank: usize) -> usize {
        rank % self.period
    }

    /// Returns the rank that stands for the target of a message, and the source as that rank sees it.
    pub fn seen_by_target(self, source: usize, target: usize) -> (usize, usize) {
        match self.movement {
            // Moves to the target the shorter way around. Ranks that do the same then have targets equally
            // far away, even if the last node is not full.
            Movement::Translation => {
                let forward = (target + self.size - source) % self.size;
                let backward = self.size - forward;
                let representative = match forward <= backward {
                    true => (source + forward) % self.period,
                    false => (source + backward * (self.period - 1)) % self.period,
                };
                (representative, (representative + backward) % self.size)
            }
            Movement::ExclusiveOr => (self.representative(target), self.seen_from(target, source)),
        }
    }

    /// Returns which rank `source` becomes when the rank that stands for `target` takes its place.
    pub fn seen_from(self, target: usize, source: usize) -> usize {
        let shift = target - self.representative(target);
        match self.movement {
            Movement::Translation => (source + self.size - shift) % self.size,
            Movement::ExclusiveOr => source ^ shift,
        }
    }

    /// Returns which slot a slot becomes when the rank that stands for `target` takes its place.
    pub fn slot_seen_from(self, target: usize, slot: u32) -> u32 {
        let is_moved = self.moves_slots && (slot as usize) < self.size;
        if is_moved { self.seen_from(target, slot as usize) as u32 } else { slot }
    }

    /// Returns the pairs of ranks for which a pair stands.
    pub fn moved(self, rank: usize, peer: usize) -> impl Iterator<Item = (usize, usize)> {
        let shifts = (0..self.size).step_by(self.period).filter(move |shift| rank + shift < self.size);
        shifts.map(move |shift| match self.movement {
            Movement::Translation => (rank + shift, (peer + shift) % self.size),
            Movement::ExclusiveOr => (rank ^ shift, peer ^ shift),
        })
    }

    /// Returns some multiples of the period, near ones and far ones.
    pub(super) fn sample(self) -> Vec<usize> {
        let copies = self.copies();
        let near_and_far = (0..copies.ilog2() + 1).map(|bit| 1 << bit).flat_map(|near| [near, copies - near]);
        let mut random = Random(copies as u64);
        let anywhere = (0..RANDOM_SHIFTS).map(move |_| random.below(copies));
        near_and_far
            .chain(anywhere)
            .filter(|&copy| copy > 0 && copy < copies)
            .map(|copy| copy * self.period)
            .collect()
    }

    /// Returns all multiples of the period but 0.
    #[cfg(test)]
    pub fn every_shift(self) -> Vec<usize> {
        (self.period..self.size).step_by(self.period).collect()
    }

    /// Returns some of the ranks that stand for all. Few suffice: the ranks of some nodes do the same, or hardly any rank does.
    pub(super) fn sample_of_members(self) -> Vec<usize> {
        let mut random = Random(self.period as u64);
        let anywhere = (0..RANDOM_MEMBERS).map(|_| random.below(self.period));
        // The period is that of at most so many nodes.
        let first_of_nodes = (0..MOST_UNITS).map(|part| part * self.period / MOST_UNITS);
        let members: BTreeSet<usize> =
            [0, 1, self.period - 1].into_iter().chain(first_of_nodes).chain(anywhere).collect();
        members.into_iter().filter(|&member| member < self.period).collect()
    }

    /// Whether the programs of a sample of ranks equal those of the first ranks, moved and simplified.
    pub fn holds(self, program: impl Fn(usize) -> Program, simplify: fn(Program) -> Program) -> bool {
        self.holds_of(self.sample_of_members(), self.sample(), program, simplify)
    }

    /// As [`Symmetry::holds`], for these of the first ranks and these shifts.
    pub(super) fn holds_of(
        self,
        members: Vec<usize>,
        shifts: Vec<usize>,
        program: impl Fn(usize) -> Program,
        simplify: fn(Program) -> Program,
    ) -> bool {
        members.into_iter().all(|first| {
            let model = simplify(program(first));
            let moved = |rank| self.moved_from(rank, program(rank));
            // Ranks may number their scratch blocks in different ways.
            let alike = |program| Program { scratch: model.scratch, ..simplify(program) } == model;
            shifts.iter().all(|shift| alike(moved(first + shift)))
        })
    }

    /// Returns the program of `rank` as that of the rank that stands for it.
    fn moved_from(self, rank: usize, mut program: Program) -> Program {
        for post in &mut program.posts {
            post.peer = self.seen_from(rank, post.peer as usize) as u32;
        }
        for signal in program.given.iter_mut().chain(&mut program.expected) {
            if let Signal::Flag { rank: raises, slot, .. } = signal {
                *raises = self.seen_from(rank, *raises as usize) as u32;
                *slot = self.slot_seen_from(rank, *slot);
            }
        }
        program
    }
}
