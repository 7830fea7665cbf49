//! Limits how long a tuning measures.

use super::entry::Stage;

/// The least repetitions of each contestant in each cell: the first batch of the paper's procedure.
const AT_LEAST: u32 = 5;

/// The most repetitions of each contestant in each cell.
const AT_MOST: u32 = 300;

/// The number of jobs that verify.
pub const VERIFICATIONS: usize = 3;

/// Milliseconds for each cell of a job, without --time.
const USUAL: [(Stage, f64); 4] =
    [(Stage::Survey, 2000.0), (Stage::Search, 800.0), (Stage::Final, 1000.0), (Stage::Verify, 800.0)];

/// The parts of the whole time that stages get, with --time.
const PARTS: [(Stage, f64); 4] =
    [(Stage::Survey, 0.25), (Stage::Search, 0.1), (Stage::Final, 0.45), (Stage::Verify, 0.2)];

/// The precision of the shortest calls is this many times coarser after the first job, which passes on its time.
const LATER_PRECISION: f64 = 5.0;

/// What limits repetitions.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Minutes for the whole tuning.
    pub minutes: Option<f64>,
    /// Number of cells.
    pub cells: usize,
    /// Number of jobs of the final.
    pub launches: usize,
    /// The relative standard error of the shortest calls.
    pub precision: f64,
    /// In seconds. No call may take longer.
    pub limit: u64,
    /// Whether calls follow barriers closely.
    pub hot: bool,
}

fn of(stage: Stage, all: &[(Stage, f64); 4]) -> f64 {
    all.iter().find(|(one, _)| *one == stage).map_or(0.0, |(_, number)| *number)
}

impl Budget {
    /// Returns the number of jobs of a stage for each number of ranks, as far as known beforehand.
    fn jobs(&self, stage: Stage) -> usize {
        match stage {
            Stage::Survey | Stage::Search => 1,
            Stage::Final => self.launches,
            Stage::Verify => VERIFICATIONS,
        }
    }

    /// Returns the milliseconds after which no repetition beyond the least number begins in a cell.
    pub fn milliseconds(&self, stage: Stage) -> f64 {
        match self.minutes {
            None => of(stage, &USUAL),
            Some(minutes) => {
                minutes * 60e3 * of(stage, &PARTS) / (self.cells.max(1) * self.jobs(stage)) as f64
            }
        }
    }

    /// Returns the seconds of these stages.
    pub fn seconds(&self, stages: &[Stage]) -> f64 {
        stages
            .iter()
            .map(|&stage| self.milliseconds(stage) * (self.cells * self.jobs(stage)) as f64 * 1e-3)
            .sum()
    }

    /// Returns the options of the measuring program. `reference` is the longest time so far, in seconds, until
    /// a collective's shortest calls were known well; 0 if there is none.
    pub fn words(&self, stage: Stage, reference: f64) -> Vec<String> {
        let precision = if reference > 0.0 { self.precision * LATER_PRECISION } else { self.precision };
        let values = [
            ("--at-least", AT_LEAST.to_string()),
            ("--at-most", AT_MOST.to_string()),
            ("--budget", format!("{:.0}", self.milliseconds(stage).max(1.0))),
            ("--precision", precision.to_string()),
            ("--limit", self.limit.to_string()),
        ];
        let mut words = ["--estimate", "--fresh"].map(str::to_owned).to_vec();
        words.extend(values.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
        words.extend(
            (reference > 0.0)
                .then(|| ["--reference".to_owned(), reference.to_string()])
                .into_iter()
                .flatten(),
        );
        words.extend(self.hot.then(|| "--hot".to_owned()));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget =
        Budget { minutes: Some(10.0), cells: 30, launches: 5, precision: 0.01, limit: 30, hot: false };

    #[test]
    fn minutes_are_shared_out() {
        assert!((BUDGET.milliseconds(Stage::Final) - 1800.0).abs() < 1e-6);
        let all = [Stage::Survey, Stage::Search, Stage::Final, Stage::Verify];
        assert!((BUDGET.seconds(&all) - 600.0).abs() < 1e-6);
    }

    #[test]
    fn the_longest_reference_is_handed_on() {
        let words = |reference| BUDGET.words(Stage::Survey, reference).join(" ");
        let expected =
            "--estimate --fresh --at-least 5 --at-most 300 --budget 5000 --precision 0.01 --limit 30";
        assert_eq!(words(0.0), expected);
        assert!(words(1.5).contains("--precision 0.05 ") && words(1.5).ends_with(" --reference 1.5"));
    }
}
