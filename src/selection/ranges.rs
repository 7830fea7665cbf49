//! Sets of numbers for conditions, as lists of ranges.

use std::fmt;
use std::ops::RangeInclusive;

/// A set of numbers: ascending ranges that neither overlap nor touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges(Vec<RangeInclusive<usize>>);

impl Ranges {
    /// Makes the union of some ranges.
    pub fn new(ranges: impl IntoIterator<Item = RangeInclusive<usize>>) -> Ranges {
        let mut sorted: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        sorted.sort_by_key(|range| *range.start());
        let mut merged: Vec<RangeInclusive<usize>> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match merged.last_mut() {
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => merged.push(range),
            }
        }
        Ranges(merged)
    }

    /// All numbers from `first` on.
    pub fn from(first: usize) -> Ranges {
        Ranges(vec![first..=usize::MAX])
    }

    pub fn only(number: usize) -> Ranges {
        Ranges(vec![number..=number])
    }

    pub fn contains(&self, number: usize) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }

    /// Whether the set contains a number of which only bounds are known; `None` if the bounds do not decide this.
    pub fn contains_one_of(&self, bounds: RangeInclusive<usize>) -> Option<bool> {
        let (first, last) = bounds.into_inner();
        if self.0.iter().any(|range| range.contains(&first) && range.contains(&last)) {
            return Some(true);
        }
        let is_apart = self.0.iter().all(|range| *range.end() < first || last < *range.start());
        is_apart.then_some(false)
    }

    /// Returns the largest of [`Ranges::changes`]; 0 if there are none.
    pub fn last_change(&self) -> usize {
        let changes = self.0.iter().flat_map(|range| [Some(*range.start()), range.end().checked_add(1)]);
        changes.flatten().max().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set is a subset of `others`.
    pub fn is_within(&self, others: &Ranges) -> bool {
        self.intersection(&others.complement()).is_empty()
    }

    pub fn intersection(&self, others: &Ranges) -> Ranges {
        let overlap = |one: &RangeInclusive<usize>, other: &RangeInclusive<usize>| {
            *one.start().max(other.start())..=*one.end().min(other.end())
        };
        Ranges::new(self.0.iter().flat_map(|one| others.0.iter().map(move |other| overlap(one, other))))
    }

    pub fn complement(&self) -> Ranges {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some(0);
        for range in &self.0 {
            if let Some(first) = next.filter(|first| first < range.start()) {
                gaps.push(first..=range.start() - 1);
            }
            next = range.end().checked_add(1);
        }
        gaps.extend(next.map(|first| first..=usize::MAX));
        Ranges(gaps)
    }

    pub fn iter(&self) -> impl Iterator<Item = &RangeInclusive<usize>> {
        self.0.iter()
    }

    /// Returns the numbers at which membership changes: the first number of each range, and the first one behind it.
    pub fn changes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|range| [Some(*range.start()), range.end().checked_add(1)]).flatten()
    }

    /// Returns the smallest number.
    pub fn first(&self) -> Option<usize> {
        self.0.first().map(|range| *range.start())
    }

    /// Returns the largest number.
    pub fn last(&self) -> Option<usize> {
        self.0.last().map(|range| *range.end())
    }
}

/// Writes the set as in rules, with both ends of a range included.
impl fmt::Display for Ranges {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        for (position, range) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            match (*range.start(), *range.end()) {
                (first, last) if first == last => write!(formatter, "{comma}{first}")?,
                (first, usize::MAX) => write!(formatter, "{comma}{first}..")?,
                (0, last) => write!(formatter, "{comma}..{last}")?,
                (first, last) => write!(formatter, "{comma}{first}..{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_that_touch_are_merged() {
        assert_eq!(Ranges::new([5..=7, 1..=2, 3..=4, 9..=9]), Ranges(vec![1..=7, 9..=9]));
        assert_eq!(Ranges::new([0..=usize::MAX, 3..=4]).to_string(), "0..");
        assert_eq!(Ranges::new([32..=usize::MAX, 4..=4, 0..=1, 8..=16]).to_string(), "..1,4,8..16,32..");
    }

    #[test]
    fn set_operations_are_those_of_their_members() {
        let mut random = Random(3);
        for _ in 0..1000 {
            let mut some = || {
                Ranges::new((0..random.below(4)).map(|_| {
                    let first = random.below(12);
                    first..=first + random.below(5)
                }))
            };
            let (one, other) = (some(), some());
            let (both, rest) = (one.intersection(&other), one.complement());
            let first = random.below(12);
            let bounds = first..=first + random.below(5);
            let decided = one.contains_one_of(bounds.clone());
            let contained: BTreeSet<bool> = bounds.map(|number| one.contains(number)).collect();
            assert_eq!(decided, (contained.len() == 1).then(|| contained.contains(&true)));
            for number in (0..20).chain([usize::MAX]) {
                let is_in_both = one.contains(number) && other.contains(number);
                assert_eq!(both.contains(number), is_in_both, "{number} in {one} and {other}");
                assert_ne!(rest.contains(number), one.contains(number), "{number} in {one} or not");
            }
            let all = (0..20).all(|number| !one.contains(number) || other.contains(number));
            assert_eq!(one.is_within(&other), all, "{one} within {other}");
        }
    }
}
