//! Covers an atlas with few rectangles of ranks and bytes. In each rectangle one candidate is nearly the fastest. Where
//! rectangles overlap, the first one counts, so a rectangle may reach over points that earlier ones hold.

use super::{Atlas, Candidate, Point};
use std::cmp::Reverse;
use std::ops::Range;

/// Which numbers of ranks in its range a rectangle holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SizeClass {
    Any,
    PowersOfTwo,
    NoPowersOfTwo,
}

/// Ranges of ranks and bytes, and the candidate that serves them.
#[derive(Clone, Debug)]
pub struct Rectangle {
    pub kind: SizeClass,
    /// Positions in [`Atlas::ranks`].
    pub ranks: Range<usize>,
    /// Positions in [`Atlas::bytes`].
    pub bytes: Range<usize>,
    /// Position in [`Atlas::candidates`].
    pub candidate: usize,
    /// How much slower than the fastest it is, as a fraction, at the worst point that this rectangle decides.
    pub regret: f64,
}

impl SizeClass {
    const ALL: [SizeClass; 3] = [SizeClass::Any, SizeClass::PowersOfTwo, SizeClass::NoPowersOfTwo];

    fn holds(self, size: usize) -> bool {
        match self {
            SizeClass::Any => true,
            SizeClass::PowersOfTwo => size.is_power_of_two(),
            SizeClass::NoPowersOfTwo => !size.is_power_of_two(),
        }
    }
}

/// Returns rectangles that together hold all points where one of the candidates that `may_hold` is not slower than the
/// fastest of all by more than `limit`, a fraction. At none is the rectangle's candidate slower by more than that. Each
/// rectangle is the one that holds most of the points that no earlier rectangle holds.
pub fn rectangles(atlas: &Atlas, limit: f64, may_hold: fn(&Candidate) -> bool) -> Vec<Rectangle> {
    let is_held = vec![false; atlas.ranks.len() * atlas.bytes.len()];
    let mut cover = Cover { atlas, limit, may_hold, is_held };
    std::iter::from_fn(|| cover.next()).collect()
}

struct Cover<'atlas> {
    atlas: &'atlas Atlas,
    limit: f64,
    may_hold: fn(&Candidate) -> bool,
    /// Whether a rectangle holds the point, by ranks and bytes.
    is_held: Vec<bool>,
}

/// How a candidate fits a point that a rectangle may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// The point does not count: a rectangle holds it, the kind excludes it, or the candidate cannot serve it.
    Indifferent,
    Good,
    Bad,
}

/// A rectangle, and how many points it would hold that no other rectangle holds.
struct Found {
    points: usize,
    held: Rectangle,
}

impl Cover<'_> {
    fn next(&mut self) -> Option<Rectangle> {
        let kinds = SizeClass::ALL.into_iter();
        let candidates = &self.atlas.candidates;
        let may_hold = |candidate: &usize| (self.may_hold)(&candidates[*candidate]);
        let of_kind = |kind| (0..candidates.len()).filter(may_hold).map(move |candidate| (kind, candidate));
        let largest = kinds.flat_map(of_kind).filter_map(|(kind, candidate)| self.largest(kind, candidate));
        let Found { mut held, .. } = largest.reduce(better)?;
        for point in points(&held).filter(|point| self.counts(&held, *point)).collect::<Vec<_>>() {
            held.regret = held.regret.max(self.atlas.regret(point, held.candidate));
            self.is_held[point.ranks * self.atlas.bytes.len() + point.bytes] = true;
        }
        Some(held)
    }

    /// Returns the rectangle of this candidate and kind that holds the most points, if any rectangle holds one.
    fn largest(&self, kind: SizeClass, candidate: usize) -> Option<Found> {
        let sizes = self.atlas.ranks.len();
        let of_first = |first| self.largest_from(kind, candidate, first);
        (0..sizes).filter_map(of_first).reduce(better)
    }

    /// As [`Cover::largest`], among the rectangles whose ranks begin at position `first`.
    fn largest_from(&self, kind: SizeClass, candidate: usize, first: usize) -> Option<Found> {
        // The number of good points on all ranks so far, by bytes; `None` where one is bad.
        let mut good: Vec<Option<usize>> = vec![Some(0); self.atlas.bytes.len()];
        let mut best: Option<Found> = None;
        for last in first..self.atlas.ranks.len() {
            for (bytes, good) in good.iter_mut().enumerate() {
                *good = match self.fit(kind, candidate, Point { ranks: last, bytes }) {
                    Fit::Bad => None,
                    Fit::Good => good.map(|points| points + 1),
                    Fit::Indifferent => *good,
                };
            }
            if good.iter().all(Option::is_none) {
                break;
            }
            if self.allows(candidate, last) {
                let held = |bytes| Rectangle { kind, ranks: first..last + 1, bytes, candidate, regret: 0.0 };
                let found = runs(&good).map(|(points, bytes)| Found { points, held: held(bytes) });
                best = best.into_iter().chain(found).filter(|found| found.points > 0).reduce(better);
            }
        }
        best
    }

    fn fit(&self, kind: SizeClass, candidate: usize, point: Point) -> Fit {
        let size = self.atlas.ranks[point.ranks];
        let is_held = self.is_held[point.ranks * self.atlas.bytes.len() + point.bytes];
        let algorithm = self.atlas.candidates[candidate].algorithm;
        match () {
            () if is_held || !kind.holds(size) || algorithm.serves(size, 0, true).is_err() => {
                Fit::Indifferent
            }
            () if self.atlas.regret(point, candidate) <= self.limit => Fit::Good,
            () => Fit::Bad,
        }
    }

    fn counts(&self, held: &Rectangle, point: Point) -> bool {
        self.fit(held.kind, held.candidate, point) == Fit::Good
    }

    /// Whether a rectangle may end at this position of ranks: its last number of ranks must reach the candidate's
    /// radix, which a rule requires.
    fn allows(&self, candidate: usize, last: usize) -> bool {
        let most_ranks = self.atlas.most_ranks(last).unwrap_or(usize::MAX);
        self.atlas.candidates[candidate].radix().is_none_or(|radix| radix <= most_ranks)
    }
}

/// Returns the longest ranges without a bad point, each with its number of good points.
fn runs(good: &[Option<usize>]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = 0;
    good.split(Option::is_none).map(move |run| {
        let range = start..start + run.len();
        start = range.end + 1;
        (run.iter().flatten().sum(), range)
    })
}

/// Returns the rectangle that holds more points; of equals, the one with the simpler kind, then the larger one.
fn better(one: Found, other: Found) -> Found {
    let merit = |found: &Found| {
        let Rectangle { kind, ranks, bytes, .. } = &found.held;
        (found.points, Reverse(*kind), ranks.len() * bytes.len())
    };
    if merit(&other) > merit(&one) { other } else { one }
}

fn points(held: &Rectangle) -> impl Iterator<Item = Point> {
    let bytes = held.bytes.clone();
    held.ranks.clone().flat_map(move |ranks| bytes.clone().map(move |bytes| Point { ranks, bytes }))
}
