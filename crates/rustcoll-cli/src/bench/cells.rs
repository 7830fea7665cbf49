//! The measured times, cell by cell.

use super::Race;
use measurements::{Contestant, Measurement};
use tuning::statistics::{Summary, median};

/// The measurements of a collective on some ranks with some bytes.
#[derive(Clone, Debug)]
pub struct Cell {
    pub collective: String,
    pub ranks: usize,
    pub bytes: usize,
    /// In the order in which they were measured, or named.
    pub measurements: Vec<Measurement>,
}

impl Cell {
    /// Returns a contestant's median and spread in seconds, over all launches.
    pub fn summary(&self, contestant: &str) -> Option<Summary> {
        let launches = self.launches(contestant);
        (!launches.is_empty()).then(|| Summary::of_launches(&launches))
    }

    /// Returns a contestant's times in seconds, in each launch in which it was measured.
    pub fn launches(&self, contestant: &str) -> Vec<Vec<f64>> {
        let seconds = |own: &Measurement| own.nanoseconds.iter().map(|&time| time as f64 * 1e-9).collect();
        self.of(contestant).map(seconds).collect()
    }

    fn of(&self, contestant: &str) -> impl Iterator<Item = &Measurement> {
        self.measurements.iter().filter(move |measurement| measurement.contestant == contestant)
    }

    fn others(&self, contestant: &str) -> impl Iterator<Item = &str> {
        let all = self.measurements.iter().map(|measurement| &measurement.contestant[..]);
        all.filter(move |other| *other != contestant)
    }

    /// Whether ranks computed during the calls, each contestant for as long as its own call takes alone. Such times have no ratio.
    pub fn overlaps(&self) -> bool {
        self.measurements.iter().any(|measurement| measurement.computing > 0)
    }

    /// Returns a contestant's median divided by the best median of the others.
    pub fn ratio(&self, contestant: &str) -> Option<f64> {
        let summaries = self.others(contestant).filter_map(|other| self.summary(other));
        let best = summaries.map(|summary| summary.median);
        Some(self.summary(contestant)?.median / best.reduce(f64::min)?)
    }

    /// Returns how much of the time of a contestant's call is hidden behind computing, in percent. OSU's
    /// benchmarks call this overlap: 100 (1 - (t - c) / c). Ranks compute for c, the time of the call alone,
    /// and call and computing together take t. `None` if ranks do not compute.
    pub fn overlap(&self, contestant: &str) -> Option<f64> {
        let of_launch = |own: &Measurement| {
            let times: Vec<f64> = own.nanoseconds.iter().map(|&time| time as f64).collect();
            let computing = own.computing as f64;
            (own.computing > 0)
                .then(|| 100.0 * (1.0 - (median(&times) - computing) / computing).clamp(0.0, 1.0))
        };
        let overlaps: Vec<f64> = self.of(contestant).filter_map(of_launch).collect();
        (!overlaps.is_empty()).then(|| median(&overlaps))
    }

    /// Returns the greatest overlap of the other contestants.
    pub fn best_other_overlap(&self, contestant: &str) -> Option<f64> {
        self.others(contestant).filter_map(|other| self.overlap(other)).reduce(f64::max)
    }

    /// Returns the cell with only the wanted launches.
    pub fn of_launches(&self, is_wanted: impl Fn(usize) -> bool) -> Cell {
        self.only(|measurement| is_wanted(measurement.launch))
    }

    /// Returns the cell with only these contestants.
    pub fn of_contestants(&self, contestants: &[Contestant]) -> Cell {
        let names: Vec<String> = contestants.iter().map(Contestant::to_string).collect();
        self.only(|measurement| names.contains(&measurement.contestant))
    }

    fn only(&self, is_wanted: impl Fn(&Measurement) -> bool) -> Cell {
        let mut own = self.clone();
        own.measurements.retain(is_wanted);
        own
    }

    /// Returns the name of what ran for a contestant.
    pub fn ran(&self, contestant: &str) -> Option<&str> {
        Some(&self.of(contestant).next()?.ran)
    }

    /// Whether all these contestants were measured in a launch.
    pub fn is_whole(&self, contestants: &[Contestant], launch: usize) -> bool {
        contestants.iter().all(|contestant| self.has(&contestant.to_string(), launch))
    }

    fn has(&self, contestant: &str, launch: usize) -> bool {
        self.of(contestant).any(|measurement| measurement.launch == launch)
    }
}

/// All cells, in the order in which they were measured.
#[derive(Clone, Debug, Default)]
pub struct Cells(pub Vec<Cell>);

impl Cells {
    /// Adds times. They replace earlier times of the same contestant, cell and launch.
    pub fn add(&mut self, measurement: Measurement) {
        let Measurement { collective, ranks, bytes, .. } = &measurement;
        let known = self
            .0
            .iter_mut()
            .find(|cell| (&cell.collective, &cell.ranks, &cell.bytes) == (collective, ranks, bytes));
        match known {
            Some(cell) => {
                let own = (&measurement.contestant, measurement.launch);
                cell.measurements.retain(|other| (&other.contestant, other.launch) != own);
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

    /// Returns the cell of a collective, if any contestant was measured in it.
    pub fn find(&self, collective: &str, ranks: usize, bytes: usize) -> Option<&Cell> {
        let wanted = (collective, ranks, bytes);
        self.0.iter().find(|cell| (&cell.collective[..], cell.ranks, cell.bytes) == wanted)
    }

    /// Returns the cells of a race's launch that lack some contestant; `None` if there are none.
    pub fn left(&self, race: &Race, launch: usize) -> Option<Race> {
        race.only(|heat, bytes| {
            let cell = self.find(&heat.series.name(), race.ranks, bytes);
            !cell.is_some_and(|cell| cell.is_whole(race.contestants_of(heat), launch))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(contestant: &str, nanoseconds: &[u64]) -> Measurement {
        Measurement {
            collective: "bcast".into(),
            ranks: 4,
            bytes: 8,
            contestant: contestant.into(),
            launch: 0,
            ran: String::new(),
            late: 0,
            computing: 0,
            nanoseconds: nanoseconds.to_vec(),
        }
    }

    #[test]
    fn a_contestant_is_compared_with_the_best_of_the_others() {
        let mut cells = Cells::default();
        for (contestant, times) in [("a", [10, 20, 60]), ("b", [40, 40, 50]), ("c", [80, 80, 80])] {
            cells.add(measurement(contestant, &times));
        }
        assert_eq!(
            ["a", "b", "c", "d"].map(|name| cells.0[0].ratio(name)),
            [Some(0.5), Some(2.0), Some(4.0), None]
        );
        // A new measurement replaces the old one.
        cells.add(measurement("b", &[10]));
        assert_eq!(cells.0[0].ratio("a"), Some(2.0));
    }

    #[test]
    fn the_overlap_is_what_computing_hides_of_a_call() {
        let mut cells = Cells::default();
        for (contestant, launch, computing, time) in [
            ("a", 0, 100, 130),
            ("a", 1, 100, 150),
            ("a", 2, 200, 200),
            ("b", 0, 100, 95),
            ("c", 0, 100, 250),
        ] {
            cells.add(Measurement { launch, computing, ..measurement(contestant, &[time]) });
        }
        cells.add(measurement("d", &[10]));
        let cell = &cells.0[0];
        let overlaps = ["a", "b", "c", "d"].map(|name| cell.overlap(name).map(f64::round));
        assert_eq!(cell.best_other_overlap("a"), Some(100.0));
        assert_eq!(overlaps, [Some(70.0), Some(100.0), Some(0.0), None]);
    }

    #[test]
    fn what_counts_of_several_launches_is_the_median_of_their_medians() {
        let mut cells = Cells::default();
        cells.add(measurement("b", &[10]));
        for (launch, times) in [[10, 20, 60], [40, 40, 40], [90, 90, 90]].iter().enumerate() {
            cells.add(Measurement { launch, ..measurement("a", times) });
        }
        assert_eq!(cells.0[0].ratio("a"), Some(4.0));
    }

    #[test]
    fn launches_can_be_looked_at_alone() {
        let mut cells = Cells::default();
        for (launch, own, other) in [(0, 40, 10), (1, 40, 20)] {
            cells.add(Measurement { launch, ..measurement("a", &[own]) });
            cells.add(Measurement { launch, ..measurement("b", &[other]) });
        }
        let ratio = |launch| cells.0[0].of_launches(|one| one == launch).ratio("a");
        assert_eq!([0, 1, 2].map(ratio), [Some(4.0), Some(2.0), None]);
    }

    #[test]
    fn a_cell_is_left_until_all_contestants_were_measured() {
        let contestants = ["a", "b"].map(|name| name.parse().unwrap()).to_vec();
        let race = Race::new(4, 1, vec!["bcast:8,16".parse().unwrap()], contestants).unwrap();
        let mut cells = Cells::default();
        let left = |cells: &Cells| cells.left(&race, 0).map(|race| race.cells());
        cells.add(measurement("a", &[1]));
        assert_eq!(left(&cells), Some(2));
        cells.add(measurement("b", &[1]));
        assert_eq!(left(&cells), Some(1));
        cells.add(Measurement { bytes: 16, ..measurement("a", &[1]) });
        cells.add(Measurement { bytes: 16, ..measurement("b", &[1]) });
        assert_eq!(left(&cells), None);
        assert_eq!(cells.left(&race, 1).map(|race| race.cells()), Some(2));
    }
}
