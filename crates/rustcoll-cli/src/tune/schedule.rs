//! Shows the progress of a tuning.

use super::budget::Budget;
use super::entry::{Stage, TuningStep};
use crate::progress::Progress;
use crate::words::counted;
use tuning::MOST_STEPS;

/// The stages of a tuning with the time that each may take, and the time that is done.
pub struct Schedule {
    progress: Progress,
    budget: Budget,
    /// How many numbers of ranks there are.
    settings: usize,
    stages: Vec<Stage>,
    /// In seconds, as planned.
    done: f64,
}

impl Schedule {
    /// Returns a schedule of which nothing is done.
    pub fn new(budget: &Budget, settings: usize, verifies: bool) -> Schedule {
        let mut stages = vec![Stage::Survey, Stage::Search, Stage::Final];
        stages.extend(verifies.then_some(Stage::Verify));
        Schedule { progress: Progress::new("tuning"), budget: budget.clone(), settings, stages, done: 0.0 }
    }

    pub fn say(&self, step: TuningStep, cells: usize) {
        let round = if step.stage == Stage::Survey { String::new() } else { format!(" {}", step.round + 1) };
        let (ranks, cells) = (step.ranks, counted(cells, "cell"));
        self.progress.say(format!("{ranks} ranks, {}{round}: {cells}", step.stage.name()));
    }

    /// Shows which part of a stage's job is done.
    pub fn show(&self, stage: Stage, part: f64) {
        self.progress.show((self.done + part * self.share(stage)) / self.budget.seconds(&self.stages));
    }

    /// Notes that a job of a stage is done.
    pub fn end(&mut self, stage: Stage) {
        self.done += self.share(stage);
        self.show(stage, 0.0);
    }

    /// Returns the seconds that a job of a stage may take.
    fn share(&self, stage: Stage) -> f64 {
        let jobs = match stage {
            Stage::Survey => 1,
            Stage::Search => MOST_STEPS,
            Stage::Final => self.budget.launches,
            Stage::Verify => super::budget::VERIFICATIONS,
        };
        self.budget.seconds(&[stage]) / (self.settings * jobs) as f64
    }
}
