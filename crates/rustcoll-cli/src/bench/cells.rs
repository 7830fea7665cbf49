//! What was measured, cell by cell.

use super::Race;
use super::statistics::Summary;
use measurements::Measurement;

/// A collective on some ranks with some bytes, and who called it.
#[derive(Clone, Debug)]
pub struct Cell {
    pub collective: String,
    pub ranks: usize,
    pub bytes: usize,
    /// In the order in which they were measured, or named.
    pub measurements: Vec<Measurement>,
}

impl Cell {
    /// A contestant's median and spread in seconds.
    pub fn summary(&self, contestant: &str) -> Option<Summary> {
        let found = self.measurements.iter().find(|measurement| measurement.contestant == contestant)?;
        Some(Summary::of(found.nanoseconds.iter().map(|&time| time as f64 * 1e-9)))
    }

    /// How a contestant's median compares with the best of all others.
    pub fn ratio(&self, contestant: &str) -> Option<f64> {
        let others = self.measurements.iter().map(|measurement| &measurement.contestant[..]);
        let others = others.filter(|other| *other != contestant);
        let best = others.filter_map(|other| self.summary(other)).map(|summary| summary.median);
        Some(self.summary(contestant)?.median / best.reduce(f64::min)?)
    }

    /// What ran for a contestant.
    pub fn ran(&self, contestant: &str) -> Option<&str> {
        let found = self.measurements.iter().find(|measurement| measurement.contestant == contestant)?;
        Some(&found.ran)
    }
}

/// All cells, in the order in which they were measured.
#[derive(Clone, Debug, Default)]
pub struct Cells(pub Vec<Cell>);

impl Cells {
    /// Adds times; those of the same contestant in the same cell are replaced.
    pub fn add(&mut self, measurement: Measurement) {
        let Measurement { collective, ranks, bytes, .. } = &measurement;
        let known = self
            .0
            .iter_mut()
            .find(|cell| (&cell.collective, &cell.ranks, &cell.bytes) == (collective, ranks, bytes));
        match known {
            Some(cell) => {
                cell.measurements.retain(|other| other.contestant != measurement.contestant);
                cell.measurements.push(measurement);
            }
            None => self.0.push(Cell {
                collective: collective.clone(),
                ranks: *ranks,
                bytes: *bytes,
                measurements: vec![measurement],
            }),
        }
    }

    /// The cell of a collective, if anybody was measured in it.
    pub fn find(&self, collective: &str, ranks: usize, bytes: usize) -> Option<&Cell> {
        let wanted = (collective, ranks, bytes);
        self.0.iter().find(|cell| (&cell.collective[..], cell.ranks, cell.bytes) == wanted)
    }

    /// In how many cells of a race all contestants were measured.
    pub fn complete(&self, race: &Race) -> usize {
        let cells = race.series.iter().flat_map(|series| {
            series.bytes.iter().filter_map(|&bytes| self.find(series.collective.name(), race.ranks, bytes))
        });
        let has_all = |cell: &&Cell| {
            race.contestants.iter().all(|contestant| cell.ran(&contestant.to_string()).is_some())
        };
        cells.filter(has_all).count()
    }
}
