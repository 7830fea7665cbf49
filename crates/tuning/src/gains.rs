//! The gains of a tuning: as measured cell by cell, and as verified afterwards with the rule file.

use crate::statistics::geometric_mean;
use crate::{Decision, Tried, Tuning};
use std::ptr;

/// Ratios of the times with a rule file to the times without it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gains<'tuning> {
    /// Measured cells with their ratios. Below 1, the rule file makes the cell faster.
    pub cells: Vec<(&'tuning Decision, f64)>,
}

impl Decision {
    /// Returns the ratio of a time to the default's time; `None` if one of them was not measured.
    pub fn relative(&self, tried: &Tried) -> Option<f64> {
        Some(tried.median()? / self.default.median()?)
    }

    /// Returns the default and a candidate with the times of the jobs that measured both; `None` if these are not more
    /// than half of the jobs.
    pub fn with_default(&self, tried: &Tried) -> Option<[Tried; 2]> {
        let both = self.default.in_common(tried);
        let jobs = self.default.launches.len().max(tried.launches.len());
        (2 * both[0].launches.len() > jobs).then_some(both)
    }

    /// Returns the candidates that were measured in more than half of the jobs, and the chosen one.
    pub fn finalists(&self) -> impl Iterator<Item = &Tried> {
        let chosen = self.chosen.as_ref().map(|chosen| chosen.candidate);
        let is_final =
            move |place: usize, tried: &Tried| self.with_default(tried).is_some() || chosen == Some(place);
        self.candidates
            .iter()
            .enumerate()
            .filter(move |(place, tried)| is_final(*place, tried))
            .map(|(_, tried)| tried)
    }

    /// Returns the ratio that the verification measured, if there was one.
    pub fn verified_ratio(&self) -> Option<f64> {
        let [default, tuned] = self.verified.as_ref()?;
        let [default, tuned] = default.in_common(tuned);
        Some(tuned.median()? / default.median()?)
    }
}

impl Tuning {
    /// Returns the ratios that the rules promise for all cells: 1 where no rule replaces the default.
    pub fn expected_gains(&self) -> Gains<'_> {
        let settings = self.settings();
        let rules: Vec<_> = settings.iter().flat_map(|setting| setting.rules()).collect();
        let has_rule =
            |cell: &Decision| rules.iter().any(|rule| rule.cells.iter().any(|&one| ptr::eq(one, cell)));
        let ratio = |cell: &Decision| match &cell.chosen {
            Some(chosen) if has_rule(cell) => 1.0 - chosen.gain,
            _ => 1.0,
        };
        Gains { cells: self.cells.iter().map(|cell| (cell, ratio(cell))).collect() }
    }

    /// Returns the measured ratios of all verified cells.
    pub fn verified_gains(&self) -> Gains<'_> {
        Gains { cells: self.cells.iter().filter_map(|cell| Some((cell, cell.verified_ratio()?))).collect() }
    }
}

impl<'tuning> Gains<'tuning> {
    /// Returns the geometric mean of the ratios; `None` without cells.
    pub fn mean(&self) -> Option<f64> {
        geometric_mean(self.cells.iter().map(|(_, ratio)| *ratio))
    }

    /// Returns the cell with the greatest ratio.
    pub fn worst(&self) -> Option<(&'tuning Decision, f64)> {
        self.cells.iter().copied().max_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{decision, tried, tuning};
    use rustcoll::algorithms::Collective;

    #[test]
    fn gains_are_means_of_ratios() {
        let cell = |bytes| decision(Collective::Bcast, 4, bytes);
        let mut cells = vec![cell(8), cell(64).with("rustcoll:chain", 0.25).choosing_it()];
        cells[1].verified = Some([tried("rustcoll", 1e-3), tried("rustcoll@rules.toml", 0.5e-3)]);
        let tuning = tuning(cells);
        assert!((tuning.expected_gains().mean().unwrap() - 0.5).abs() < 1e-9);
        let verified = tuning.verified_gains();
        assert_eq!(verified.cells.len(), 1);
        assert!((verified.mean().unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(tuning.expected_gains().worst().unwrap().0.bytes, 8);
        assert_eq!(Gains { cells: Vec::new() }.mean(), None);
    }

    #[test]
    fn a_choice_without_a_rule_gains_nothing() {
        let cell = |bytes| decision(Collective::Alltoallv, 4, bytes);
        let faster = |bytes| cell(bytes).with("rustcoll:pairwise", 0.5).choosing_it();
        let mean = |cells| tuning(cells).expected_gains().mean().unwrap();
        assert!((mean(vec![faster(8), faster(64)]) - 0.5).abs() < 1e-9);
        assert_eq!(mean(vec![faster(8), cell(64)]), 1.0);
    }

    #[test]
    fn finalists_were_measured_in_most_jobs() {
        let mut cell =
            decision(Collective::Bcast, 4, 8).with("rustcoll:chain", 0.5).with("rustcoll:binary", 0.5);
        cell.candidates[0].launches.truncate(1);
        let names =
            |cell: &Decision| cell.finalists().map(|tried| tried.contestant.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&cell), ["rustcoll:binary"]);
        cell.chosen = Some(crate::Chosen { candidate: 0, gain: 0.5, probability: 0.01 });
        assert_eq!(names(&cell), ["rustcoll:chain", "rustcoll:binary"]);
    }
}
