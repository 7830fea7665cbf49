//! The cells of a tuning in order, grouped by collective and placement of ranks, and ranges of neighbouring
//! sizes that have something in common.

use crate::{Decision, Tuning};
use rustcoll::algorithms::Collective;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// Calls of up to this many bytes take about the same time as shorter calls.
const SHORT: usize = 64;

/// A collective on one placement of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting<'tuning> {
    pub collective: Collective,
    pub ranks: usize,
    /// The number of hosts; 0 if it is not known.
    pub nodes: usize,
    /// The most ranks on one host; 0 if it is not known.
    pub ranks_per_node: usize,
    /// The measured cells, at least one, by ascending bytes.
    pub cells: Vec<&'tuning Decision>,
}

/// Neighbouring sizes that have the same value of some property, for example the same choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch<'tuning, Held> {
    /// The common value.
    pub held: Held,
    /// The cells with this value, at least one.
    pub cells: Vec<&'tuning Decision>,
    /// The bytes of these cells and of the unmeasured sizes near them.
    pub bytes: RangeInclusive<usize>,
}

type CellKey = (Collective, usize, Reverse<usize>, usize);

fn place(cell: &Decision) -> CellKey {
    (cell.collective, cell.ranks, Reverse(cell.ranks_per_node), cell.nodes)
}

impl Tuning {
    /// Returns the settings by collective and ranks. Those with more ranks on a host come first.
    pub fn settings(&self) -> Vec<Setting<'_>> {
        Setting::all(&self.cells)
    }

    /// Returns one setting for each collective and number of ranks: the one with the most ranks on a host.
    pub fn settings_by_ranks(&self) -> Vec<Setting<'_>> {
        let mut settings = self.settings();
        settings.dedup_by_key(|setting| (setting.collective, setting.ranks));
        settings
    }
}

impl<'tuning> Setting<'tuning> {
    /// Returns the settings of some cells, in order. Among several cells with equal keys, the first counts.
    pub fn all(cells: &'tuning [Decision]) -> Vec<Self> {
        let mut cells: Vec<&Decision> = cells.iter().collect();
        cells.sort_by_key(|cell| (place(cell), cell.bytes));
        cells.dedup_by_key(|cell| (place(cell), cell.bytes));
        cells.chunk_by(|one, other| place(one) == place(other)).map(Setting::of).collect()
    }

    fn of(cells: &[&'tuning Decision]) -> Self {
        let Decision { collective, ranks, nodes, ranks_per_node, .. } = *cells[0];
        Setting { collective, ranks, nodes, ranks_per_node, cells: cells.to_vec() }
    }

    /// Returns the stretches of sizes with equal values of `held`, by ascending bytes, without those of
    /// `None`. The border between two sizes is their geometric mean. Sizes above the largest or far below the
    /// smallest are left out.
    pub fn stretches<Held: PartialEq>(
        &self,
        held: impl Fn(&'tuning Decision) -> Option<Held>,
    ) -> Vec<Stretch<'tuning, Held>> {
        let mut stretches: Vec<Stretch<Option<Held>>> = Vec::new();
        for &cell in &self.cells {
            let held = held(cell);
            match stretches.last_mut() {
                Some(last) if last.held == held => last.extend(cell),
                last => {
                    let start = last.map_or_else(|| least(cell.bytes), |last| last.end_before(cell) + 1);
                    stretches.push(Stretch { held, cells: vec![cell], bytes: start..=cell.bytes });
                }
            }
        }
        let known = |Stretch { held, cells, bytes }| Some(Stretch { held: held?, cells, bytes });
        stretches.into_iter().filter_map(known).collect()
    }
}

impl<'tuning, Held> Stretch<'tuning, Held> {
    fn extend(&mut self, cell: &'tuning Decision) {
        self.cells.push(cell);
        self.bytes = *self.bytes.start()..=cell.bytes;
    }

    /// Ends this stretch where the next one begins. Returns its last bytes.
    fn end_before(&mut self, next: &Decision) -> usize {
        let last = border(*self.bytes.end(), next.bytes);
        self.bytes = *self.bytes.start()..=last;
        last
    }
}

/// Returns the fewest bytes that the smallest size represents: 0 if it is short, otherwise half of it.
fn least(smallest: usize) -> usize {
    if smallest <= SHORT { 0 } else { smallest.div_ceil(2) }
}

/// Returns the last bytes on the smaller size's side of the border between two sizes.
fn border(smaller: usize, larger: usize) -> usize {
    (smaller as u128 * larger as u128).isqrt() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{decision, tuning};

    #[test]
    fn cells_come_in_order() {
        let cell = |collective, ranks, bytes| decision(collective, ranks, bytes);
        let (bcast, scan) = (Collective::Bcast, Collective::Scan);
        let shared = Decision { nodes: 2, ranks_per_node: 4, ..cell(bcast, 8, 64) };
        let tuning = tuning(vec![
            cell(scan, 4, 8),
            cell(bcast, 8, 64),
            cell(bcast, 8, 8),
            shared,
            cell(bcast, 4, 8),
            cell(bcast, 8, 8),
        ]);
        let found: Vec<_> = tuning
            .settings()
            .iter()
            .map(|setting| (setting.collective, setting.ranks, setting.ranks_per_node, setting.cells.len()))
            .collect();
        assert_eq!(found, [(bcast, 4, 1, 1), (bcast, 8, 4, 1), (bcast, 8, 1, 2), (scan, 4, 1, 1)]);
    }

    /// The stretches of cells with these sizes and values.
    fn stretches(sizes: &[(usize, Option<char>)]) -> Vec<(char, RangeInclusive<usize>)> {
        let cells = sizes.iter().map(|(bytes, _)| decision(Collective::Bcast, 4, *bytes)).collect();
        let tuning = tuning(cells);
        let held = |cell: &Decision| sizes.iter().find(|(bytes, _)| *bytes == cell.bytes)?.1;
        let found = tuning.settings()[0].stretches(held);
        found.into_iter().map(|stretch| (stretch.held, stretch.bytes)).collect()
    }

    #[test]
    fn borders_lie_at_geometric_means() {
        let (a, b) = (Some('a'), Some('b'));
        assert_eq!(stretches(&[(8, a), (16, a), (64, b)]), [('a', 0..=32), ('b', 33..=64)]);
        assert_eq!(stretches(&[(8, a), (32, None), (128, a)]), [('a', 0..=16), ('a', 65..=128)]);
        assert_eq!(stretches(&[(8, None), (32, b)]), [('b', 17..=32)]);
        assert_eq!(stretches(&[(0, a), (1, b), (2, a)]), [('a', 0..=0), ('b', 1..=1), ('a', 2..=2)]);
        assert_eq!(stretches(&[(8, None)]), []);
        // A stretch does not cover calls that are far shorter than the smallest size.
        assert_eq!(stretches(&[(64, a)]), [('a', 0..=64)]);
        assert_eq!(stretches(&[(40_000, a), (80_000, None)]), [('a', 20_000..=56_568)]);
        let (near, far) = (usize::MAX - 1, usize::MAX);
        assert_eq!(stretches(&[(near, a), (far, b)]), [('a', near.div_ceil(2)..=near), ('b', far..=far)]);
    }
}
