//! Programs that are all the same but for the names of the ranks, so that a few stand for all.

use super::program::{Program, Signal};
use crate::random::Random;
use std::collections::BTreeSet;

/// How the program of rank r < `period` becomes that of r further on: every rank in it is moved by as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symmetry {
    size: usize,
    period: usize,
    movement: Movement,
    /// Whether slots bear the numbers of ranks, and are moved as these are.
    moves_slots: bool,
}

/// How a rank is moved by a multiple of the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movement {
    /// It is added, modulo the number of ranks.
    Translation,
    /// By exclusive or.
    ExclusiveOr,
}

/// How many multiples of the period are sampled besides the powers of two.
const RANDOM_SHIFTS: usize = 8;

/// Of a longer period so many ranks are sampled besides the first two and the last.
const RANDOM_MEMBERS: usize = 2;

impl Symmetry {
    /// That of programs which need not be alike.
    pub fn none(size: usize) -> Symmetry {
        Symmetry { size, period: size, movement: Movement::Translation, moves_slots: false }
    }

    /// Those in which so many ranks stand for all.
    pub fn of_period(size: usize, period: usize) -> impl Iterator<Item = Symmetry> {
        let movements = [Movement::Translation, Movement::ExclusiveOr].into_iter();
        let all = movements.flat_map(move |movement| {
            [false, true].map(|moves_slots| Symmetry { size, period, movement, moves_slots })
        });
        all.filter_map(Symmetry::checked).filter(|symmetry| symmetry.is_exact())
    }

    /// The same with ranks standing for all that come in groups of so many; none, if these would not be fewer than all.
    pub fn coarser(self, group: usize) -> Option<Symmetry> {
        let period =
            if group.is_multiple_of(self.period) { group } else { group.saturating_mul(self.period) };
        Symmetry { period, ..self }.checked()
    }

    fn checked(self) -> Option<Symmetry> {
        let Symmetry { size, period, movement, .. } = self;
        let is_possible = period < size
            && (movement == Movement::Translation || (size.is_power_of_two() && period.is_power_of_two()));
        is_possible.then_some(self)
    }

    /// How many ranks stand for all.
    pub fn period(self) -> usize {
        self.period
    }

    /// How many ranks there are.
    pub fn size(self) -> usize {
        self.size
    }

    /// For how many ranks each of them stands.
    fn copies(self) -> usize {
        self.size / self.period
    }

    /// Whether all ranks that one stands for do the same. Else the last node has fewer ranks than the others, and is taken to be like them.
    pub fn is_exact(self) -> bool {
        self.size.is_multiple_of(self.period)
    }

    /// The rank that stands for a rank.
    pub fn representative(self, rank: usize) -> usize {
        rank % self.period
    }

    /// The rank that stands for the target of a message, and which rank the source is to that one.
    pub fn seen_by_target(self, source: usize, target: usize) -> (usize, usize) {
        match self.movement {
            // Towards the target the shorter way around, so that ranks which do the same have targets as far away also where the last node is
            // not full.
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

    /// Which rank `source` is to the one that stands for `target`, if that takes the place of `target`.
    pub fn seen_from(self, target: usize, source: usize) -> usize {
        let shift = target - self.representative(target);
        match self.movement {
            Movement::Translation => (source + self.size - shift) % self.size,
            Movement::ExclusiveOr => source ^ shift,
        }
    }

    /// Which slot a slot is to the rank that stands for `target`, if that takes the place of `target`.
    pub fn slot_seen_from(self, target: usize, slot: u32) -> u32 {
        let is_moved = self.moves_slots && (slot as usize) < self.size;
        if is_moved { self.seen_from(target, slot as usize) as u32 } else { slot }
    }

    /// The pairs of ranks for which a pair stands.
    pub fn moved(self, rank: usize, peer: usize) -> impl Iterator<Item = (usize, usize)> {
        let shifts = (0..self.size).step_by(self.period).filter(move |shift| rank + shift < self.size);
        shifts.map(move |shift| match self.movement {
            Movement::Translation => (rank + shift, (peer + shift) % self.size),
            Movement::ExclusiveOr => (rank ^ shift, peer ^ shift),
        })
    }

    /// Some multiples of the period, near ones and far ones.
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

    /// All of them but 0.
    #[cfg(test)]
    pub fn every_shift(self) -> Vec<usize> {
        (self.period..self.size).step_by(self.period).collect()
    }

    /// Some of the ranks that stand for all: whole nodes of ranks do the same or hardly any of them.
    pub(super) fn sample_of_members(self) -> Vec<usize> {
        let mut random = Random(self.period as u64);
        let anywhere = (0..RANDOM_MEMBERS).map(|_| random.below(self.period));
        let members: BTreeSet<usize> = [0, 1, self.period - 1].into_iter().chain(anywhere).collect();
        members.into_iter().filter(|&member| member < self.period).collect()
    }

    /// Whether the programs of a sample of ranks are what those of the first ranks say.
    pub fn holds(self, program: impl Fn(usize) -> Program) -> bool {
        self.holds_of(self.sample_of_members(), self.sample(), program)
    }

    /// The same of these of the first ranks, moved by these shifts.
    pub(super) fn holds_of(
        self,
        members: Vec<usize>,
        shifts: Vec<usize>,
        program: impl Fn(usize) -> Program,
    ) -> bool {
        members.into_iter().all(|first| {
            let model = program(first);
            shifts.iter().all(|shift| self.is_moved(&model, program(first + shift), first + shift))
        })
    }

    /// Whether a program, that of `rank`, is the one that stands for it.
    fn is_moved(self, model: &Program, mut program: Program, rank: usize) -> bool {
        for post in &mut program.posts {
            post.peer = self.seen_from(rank, post.peer as usize) as u32;
        }
        for signal in program.given.iter_mut().chain(&mut program.expected) {
            if let Signal::Flag { rank: raises, slot, .. } = signal {
                *raises = self.seen_from(rank, *raises as usize) as u32;
                *slot = self.slot_seen_from(rank, *slot);
            }
        }
        // Ranks may number their scratch blocks in different ways.
        program.scratch = model.scratch;
        *model == program
    }
}
