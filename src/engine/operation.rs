//! The operations of a plan, and how operations on regions at regular steps are one.

use super::{Location, Region};
use crate::schedule::Post;
use std::ops::Range;

/// One operation of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Posts a send.
    Send {
        post: Post,
        /// The receiving rank.
        peer: u32,
        region: Region,
        /// Whether the next operation waits for this post.
        is_awaited_next: bool,
    },
    /// Posts a receive.
    Receive {
        post: Post,
        /// The sending rank.
        peer: u32,
        region: Region,
        /// Whether the next operation waits for this post.
        is_awaited_next: bool,
    },
    /// Waits for posts.
    Wait {
        /// A range of [`Plan::awaited`](super::Plan::awaited).
        awaited: Range<usize>,
    },
    /// Copies regions.
    Copy {
        source: Region,
        target: Region,
        /// How source and target repeat.
        rows: Further<2>,
    },
    /// `target = left ⊕ right`
    Reduce {
        left: Location,
        right: Location,
        target: Location,
        /// Elements of each of the three.
        elements: usize,
        /// How left, right and target repeat.
        rows: Further<3>,
    },
    /// Publishes in one of the rank's slots where a region lies.
    Lend {
        region: Region,
        slot: u32,
        /// The copy that may be lent instead.
        copy: LentCopy,
    },
    /// Raises the flag of one of the rank's slots.
    Notify { slot: u32 },
    /// Waits for a flag.
    Await {
        /// The rank that raises the flag.
        rank: u32,
        /// The slot of that rank.
        slot: u32,
        /// How often the rank has raised the flag in this stripe.
        times: u32,
    },
    /// Carries out a loop of the schedule.
    Repeat {
        /// An index of [`Plan::loops`](super::Plan::loops).
        number: usize,
    },
    /// Waits until the rank's slots may be written.
    AwaitSlots,
    /// Ends a stripe: the rank reads nothing more of it. Stripes that differ only in where the caller's
    /// elements lie are in the plan once. The operations from `first` up to here run `times` times, each time
    /// `step` elements further on in the caller's buffers.
    EndStripe {
        /// The index of the stripe's first operation.
        first: usize,
        /// Number of stripes of this kind.
        times: usize,
        /// Elements from one stripe to the next.
        step: usize,
    },
}

/// A copy that a rank lends instead of the original. If elements have gaps, the rank always lends a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LentCopy {
    /// The offset of the copy, if it is made, in the memory for such copies.
    pub start: usize,
    /// Bytes of data.
    pub bytes: usize,
    /// Whether the copy is needed because the original is written again before all ranks have copied it.
    pub is_needed: bool,
}

/// A repetition of `N` regions at regular steps. Each row has all `N` regions, with the lengths of the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows<const N: usize> {
    /// Number of rows, at least one.
    pub number: usize,
    /// Elements, or slots, from each row to the next, modulo 2^64: they may descend.
    pub steps: [usize; N],
}

impl<const N: usize> Rows<N> {
    /// A single row.
    pub const ONE: Rows<N> = Rows { number: 1, steps: [0; N] };

    /// Returns the regions of a row, given those of the first row.
    #[inline]
    pub fn row(&self, number: usize, mut first: [Region; N]) -> [Region; N] {
        for (region, step) in first.iter_mut().zip(self.steps) {
            region.offset = region.offset.wrapping_add(number.wrapping_mul(step));
        }
        first
    }

    /// Returns the rows of the region at `index` alone.
    fn column(&self, index: usize) -> Rows<1> {
        Rows { number: self.number, steps: [self.steps[index]] }
    }

    /// Adds a row if its regions follow at the same steps. Returns whether it did.
    fn take(&mut self, first: &[Region; N], next: &[Region; N]) -> bool {
        let last = self.row(self.number - 1, *first);
        let mut steps = [0; N];
        for ((step, last), next) in steps.iter_mut().zip(&last).zip(next) {
            let is_alike = (last.memory, last.elements) == (next.memory, next.elements);
            if !is_alike {
                return false;
            }
            *step = next.offset.wrapping_sub(last.offset);
        }
        let follows = self.number == 1 || steps == self.steps;
        if follows {
            (self.number, self.steps) = (self.number + 1, steps);
        }
        follows
    }
}

impl Rows<1> {
    /// Returns the offset of the last row's region, given that of the first.
    pub(super) fn last(&self, first: usize) -> usize {
        first.wrapping_add((self.number - 1).wrapping_mul(self.steps[0]))
    }
}

/// The rows of an operation. Most operations have one row, which takes no memory here: kept plans have many operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Further<const N: usize>(Option<Box<Rows<N>>>);

impl<const N: usize> Further<N> {
    /// Returns the number of rows.
    #[inline]
    pub fn number(&self) -> usize {
        self.0.as_ref().map_or(1, |rows| rows.number)
    }

    /// Returns the rows of each region.
    pub(super) fn columns(&self) -> [Rows<1>; N] {
        let rows = self.0.as_deref().unwrap_or(&Rows::ONE);
        std::array::from_fn(|index| rows.column(index))
    }

    /// Returns the regions of all rows, given those of the first row.
    #[inline]
    pub fn each(&self, first: [Region; N]) -> impl Iterator<Item = [Region; N]> {
        let row = move |number| self.0.as_ref().map_or(first, |rows| rows.row(number, first));
        (0..self.number()).map(row)
    }
}

impl<const N: usize> From<Rows<N>> for Further<N> {
    fn from(rows: Rows<N>) -> Self {
        Further((rows.number > 1).then(|| Box::new(rows)))
    }
}

/// The regions of the first row, and how the other rows follow.
pub(super) type InRows<const N: usize> = ([Region; N], Rows<N>);

/// Joins regions that follow each other at regular steps into rows.
pub(super) fn in_rows<const N: usize>(all: impl Iterator<Item = InRows<N>>) -> Vec<InRows<N>> {
    let mut together: Vec<InRows<N>> = Vec::new();
    for (next, rows) in all {
        let is_taken =
            rows == Rows::ONE && together.last_mut().is_some_and(|(first, rows)| rows.take(first, &next));
        if !is_taken {
            together.push((next, rows));
        }
    }
    together
}
