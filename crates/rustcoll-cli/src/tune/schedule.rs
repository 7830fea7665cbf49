//! How far a tuning is.

use super::budget::Budget;
use super::entry::{Stage, TuningStep};
use crate::progress::Progress;
use crate::words::counted;
use tuning::MOST_STEPS;

/// The parts of a tuning by the time that they may take, and how much of them is done.
pub struct Schedule {
    progress: Progress,
    budget: Budget,
    /// How many numbers of ranks there are.
    settings: usize,
    stages: Vec<Stage>,
    /// In seconds as they were planned.
    done: f64,
}

impl Schedule {
    /// Nothing is done yet.
    pub fn new(budget: &Budget, settings: usize, verifies: bool) -> Schedule {
        let mut stages = vec![Stage::Survey, Stage::Search, Stage::Final];
        stages.extend(verifies.then_some(Stage::Verify));
        Schedule { progress: Progress::new("tuning"), budget: budget.clone(), settings, stages, done: 0.0 }
    }

    /// Says what is being done.
    pub fn say(&self, step: TuningStep, cells: usize) {
        let round = if step.stage == Stage::Survey { String::new() } else { format!(" {}", step.round + 1) };
        let (ranks, cells) = (step.ranks, counted(cells, "cell"));
        self.progress.say(format!("{ranks} ranks, {}{round}: {cells}", step.stage.name()));
    }

    /// Shows which part of a stage's job is done.
    pub fn show(&self, stage: Stage, part: f64) {
        self.progress.show((self.done + part * self.share(stage)) / self.budget.seconds(&self.stages));
    }

    /// A job of a stage is done.
    pub fn end(&mut self, stage: Stage) {
        self.done += self.share(stage);
        self.show(stage, 0.0);
    }

    /// What a job of a stage may take.
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
