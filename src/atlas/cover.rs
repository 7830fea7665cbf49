//! Few boxes of ranks and bytes in each of which one candidate is nearly the fastest. Of several that hold a point the first
//! counts, so a box may reach over what earlier ones hold.

use super::{Atlas, Point};
use std::cmp::Reverse;
use std::ops::Range;

/// Which numbers of ranks belong to a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// All.
    Any,
    /// The powers of two.
    PowersOfTwo,
    /// The others.
    NoPowersOfTwo,
}

/// Numbers of ranks and of bytes, and who serves them.
#[derive(Clone, Debug)]
pub struct Box {
    pub kind: Kind,
    /// Positions among the atlas's numbers of ranks.
    pub ranks: Range<usize>,
    /// Positions among its numbers of bytes.
    pub bytes: Range<usize>,
    /// The candidate's number.
    pub candidate: usize,
    /// By which part it takes longer than the fastest at the worst point that counts here.
    pub regret: f64,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Any, Kind::PowersOfTwo, Kind::NoPowersOfTwo];

    fn holds(self, size: usize) -> bool {
        match self {
            Kind::Any => true,
            Kind::PowersOfTwo => size.is_power_of_two(),
            Kind::NoPowersOfTwo => !size.is_power_of_two(),
        }
    }
}

/// Boxes that hold all points, such that no candidate takes longer than the fastest by more than the limit. Each is the one
/// that holds most of the points that those before it do not.
pub fn boxes(atlas: &Atlas, limit: f64) -> Vec<Box> {
    let mut cover = Cover { atlas, limit, is_held: vec![false; atlas.ranks.len() * atlas.bytes.len()] };
    std::iter::from_fn(|| cover.next()).collect()
}

struct Cover<'atlas> {
    atlas: &'atlas Atlas,
    limit: f64,
    /// Whether a box holds a point, by ranks and bytes.
    is_held: Vec<bool>,
}

/// What a candidate is to a point that a box may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// It does not count: another box holds it, or this candidate cannot serve it, so that its rule is passed over.
    Indifferent,
    Good,
    Bad,
}

/// A box, and how many points it would hold.
struct Found {
    points: usize,
    held: Box,
}

impl Cover<'_> {
    fn next(&mut self) -> Option<Box> {
        let kinds = Kind::ALL.into_iter();
        let of_kind = |kind| (0..self.atlas.candidates.len()).map(move |candidate| (kind, candidate));
        let largest = kinds.flat_map(of_kind).filter_map(|(kind, candidate)| self.largest(kind, candidate));
        let Found { mut held, .. } = largest.reduce(better)?;
        for point in points(&held).filter(|point| self.counts(&held, *point)).collect::<Vec<_>>() {
            held.regret = held.regret.max(self.atlas.regret(point, held.candidate));
            self.is_held[point.ranks * self.atlas.bytes.len() + point.bytes] = true;
        }
        Some(held)
    }

    /// The box of a candidate that holds the most points, if any holds one.
    fn largest(&self, kind: Kind, candidate: usize) -> Option<Found> {
        let sizes = self.atlas.ranks.len();
        let of_first = |first| self.largest_from(kind, candidate, first);
        (0..sizes).filter_map(of_first).reduce(better)
    }

    /// The same among those that begin with this number of ranks.
    fn largest_from(&self, kind: Kind, candidate: usize, first: usize) -> Option<Found> {
        // The good points of all ranks so far, by bytes; none where one is bad.
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
                let held = |bytes| Box { kind, ranks: first..last + 1, bytes, candidate, regret: 0.0 };
                let found = runs(&good).map(|(points, bytes)| Found { points, held: held(bytes) });
                best = best.into_iter().chain(found).filter(|found| found.points > 0).reduce(better);
            }
        }
        best
    }

    fn fit(&self, kind: Kind, candidate: usize, point: Point) -> Fit {
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

    fn counts(&self, held: &Box, point: Point) -> bool {
        self.fit(held.kind, held.candidate, point) == Fit::Good
    }

    /// Whether a box may end with this number of ranks: a rule whose radix is never reached is none.
    fn allows(&self, candidate: usize, last: usize) -> bool {
        let most_ranks = self.atlas.most_ranks(last).unwrap_or(usize::MAX);
        self.atlas.candidates[candidate].radix().is_none_or(|radix| radix <= most_ranks)
    }
}

/// The longest ranges without a bad point, and how many good ones each has.
fn runs(good: &[Option<usize>]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = 0;
    good.split(Option::is_none).map(move |run| {
        let range = start..start + run.len();
        start = range.end + 1;
        (run.iter().flatten().sum(), range)
    })
}

/// More points, then the simpler conditions.
fn better(one: Found, other: Found) -> Found {
    let merit = |found: &Found| {
        let Box { kind, ranks, bytes, .. } = &found.held;
        (found.points, Reverse(*kind), ranks.len() * bytes.len())
    };
    if merit(&other) > merit(&one) { other } else { one }
}

fn points(held: &Box) -> impl Iterator<Item = Point> {
    let bytes = held.bytes.clone();
    held.ranks.clone().flat_map(move |ranks| bytes.clone().map(move |bytes| Point { ranks, bytes }))
}
