//! The jobs of a tuning, one after the other. What is recorded is not measured again, so a tuning that is
//! started again continues where it stopped.

use super::budget::VERIFICATIONS;
use super::entry::{Conclusion, Entry, Event, Stage, TuningStep};
use super::hearing::{Blame, Heard, Hearing};
use super::heats::{Racing, heats};
use super::plan::{Plan, Setting, default_contestant};
use super::record::{GOES_ON, Record};
use super::schedule::Schedule;
use crate::bench::Race;
use crate::bench::job::{self, Ended};
use crate::bench::launcher::Launcher;
use crate::failure::Failure;
use crate::interruption;
use crate::words::counted;
use measurements::{Cause, Contestant, Measurement, Trial};
use std::collections::BTreeSet;
use tuning::statistics::{self, median_of_launches};
use tuning::{CellKey, MOST_STEPS, SURE_FINALS, Standing, can_win, finalists, is_default, leader, steps};

/// The tuning fails after this many jobs in a row that failed without a contestant to blame.
const MOST_UNEXPLAINED: usize = 2;

/// The tuning fails after this many jobs in a row that measured nothing.
const MOST_FRUITLESS: usize = 10;

/// A tuning in progress.
pub struct Campaign<'tuning> {
    pub plan: &'tuning Plan,
    /// Starts the jobs.
    pub launcher: Launcher,
    /// What was measured so far.
    pub record: Record,
    /// Shows the progress.
    pub schedule: Schedule,
}

/// The jobs of one step that ended badly.
#[derive(Default)]
struct Troubles {
    /// Cells in which each contestant is measured alone, to find out which one ends jobs.
    isolated: BTreeSet<CellKey>,
    unexplained: usize,
    fruitless: usize,
}

impl Troubles {
    /// Whether to exclude a contestant that is to blame. A job may also end for an outside reason. Without the
    /// default, or the rule file, a cell has no result. So these two contestants get one more call, alone.
    fn is_sure(&self, cells: &[Racing], trial: &Trial) -> bool {
        let is_candidate =
            trial.contestant.parse::<Contestant>().is_ok_and(|contestant| contestant.algorithm.is_some());
        is_candidate || place_of(cells, trial).is_none_or(|place| self.isolated.contains(&place))
    }
}

impl Campaign<'_> {
    /// Measures all that decisions need.
    pub fn measure(&mut self) -> Result<(), Failure> {
        for setting in &self.plan.settings {
            let step = |stage, round| TuningStep { ranks: setting.placement.ranks, stage, round };
            self.perform(setting, step(Stage::Survey, 0), &self.surveyed(setting))?;
            for round in 0..MOST_STEPS {
                self.perform(
                    setting,
                    step(Stage::Search, round),
                    &self.searched(setting, step(Stage::Search, round)),
                )?;
            }
            for round in 0..self.plan.launches {
                self.perform(
                    setting,
                    step(Stage::Final, round),
                    &self.racing(setting, step(Stage::Final, round)),
                )?;
            }
        }
        Ok(())
    }

    /// Measures what a rule file gains.
    pub fn verify(&mut self, tuned: &Contestant) -> Result<(), Failure> {
        for setting in &self.plan.settings {
            let both = vec![default_contestant(), tuned.clone()];
            let cells: Vec<Racing> = setting.cells.iter().map(|(place, _)| (*place, both.clone())).collect();
            for round in 0..VERIFICATIONS {
                self.perform(
                    setting,
                    TuningStep { ranks: setting.placement.ranks, stage: Stage::Verify, round },
                    &cells,
                )?;
            }
        }
        Ok(())
    }

    /// Returns the default and all candidates that are not hopeless.
    fn surveyed(&self, setting: &Setting) -> Vec<Racing> {
        let racing = setting.cells.iter().map(|(place, field)| {
            let entrants = field.entrants.iter().map(|entrant| entrant.contestant.clone());
            (*place, [default_contestant()].into_iter().chain(entrants).collect())
        });
        racing.collect()
    }

    fn searched(&self, setting: &Setting, now: TuningStep) -> Vec<Racing> {
        let racing = setting
            .cells
            .iter()
            .map(|(place, _)| (*place, steps(*place, &self.standings(*place, now), now.round + 1)));
        racing.filter(|(_, contestants)| !contestants.is_empty()).collect()
    }

    /// Returns the default and the finalists of cells that have any. Leaves out finalists that have lost already.
    fn racing(&self, setting: &Setting, now: TuningStep) -> Vec<Racing> {
        let mut standings: Vec<Vec<Standing>> =
            setting.cells.iter().map(|(place, _)| self.standings(*place, now)).collect();
        let defaults: Vec<Option<f64>> = setting
            .cells
            .iter()
            .zip(&mut standings)
            .map(|((place, _), standings)| self.without_default(*place, standings))
            .collect();
        let racing = setting.cells.iter().enumerate().filter_map(|(number, (place, _))| {
            let default = defaults[number]?;
            let beside: Vec<Contestant> = [number.checked_sub(1), Some(number + 1)]
                .into_iter()
                .flatten()
                .filter(|&other| {
                    setting.cells.get(other).is_some_and(|(one, _)| one.collective == place.collective)
                })
                .filter_map(|other| leader(&standings[other]).cloned())
                .collect();
            let mut racers = finalists(*place, default, &standings[number], &beside, self.plan.demands.gain);
            racers.retain(|one| now.round < SURE_FINALS || self.may_win(*place, one));
            (!racers.is_empty()).then(|| (*place, [default_contestant()].into_iter().chain(racers).collect()))
        });
        racing.collect()
    }

    fn surveyed_default(&self, place: CellKey) -> Option<&Measurement> {
        let step = TuningStep { ranks: place.ranks, stage: Stage::Survey, round: 0 };
        self.record.measurement(step, place, &default_contestant())
    }

    /// Drops the default where it stands under its algorithm's name. Returns its time, measured under both names.
    fn without_default(&self, place: CellKey, standings: &mut Vec<Standing>) -> Option<f64> {
        let measured = self.surveyed_default(place)?;
        let median = median_of_launches(&[seconds(&measured.nanoseconds)]);
        let is_it = |one: &Standing| is_default(one, &measured.ran, median, self.plan.demands.gain);
        let both = standings.iter().filter(|one| is_it(one)).map(|one| one.seconds).chain([median]);
        let time = statistics::median(&both.collect::<Vec<_>>());
        standings.retain(|one| !is_it(one));
        Some(time)
    }

    /// Returns the candidates' times from the survey and the search before the step `now`. Later measurements
    /// do not count: a resumed tuning must plan as it did before.
    fn standings(&self, place: CellKey, now: TuningStep) -> Vec<Standing> {
        let mut all: Vec<(Standing, Vec<Vec<f64>>)> = Vec::new();
        for (step, measured) in self.record.measured_in(place) {
            let number = match step.stage {
                _ if step >= now => continue,
                Stage::Survey => 0,
                Stage::Search => step.round + 1,
                Stage::Final | Stage::Verify => continue,
            };
            let Ok(contestant) = measured.contestant.parse::<Contestant>() else { continue };
            if contestant.is_plain() || self.record.was_excluded(place, &contestant, now) {
                continue;
            }
            let times = seconds(&measured.nanoseconds);
            match all.iter_mut().find(|(one, _)| one.contestant == contestant) {
                Some((_, launches)) => launches.push(times),
                None => all.push((Standing { contestant, seconds: 0.0, step: number }, vec![times])),
            }
        }
        all.into_iter()
            .map(|(standing, launches)| Standing { seconds: median_of_launches(&launches), ..standing })
            .collect()
    }

    /// Whether a finalist was measured in the first jobs of the final, and was not far behind the default in those that measured
    /// both.
    fn may_win(&self, place: CellKey, contestant: &Contestant) -> bool {
        let times = |contestant: &Contestant, round| {
            let step = TuningStep { ranks: place.ranks, stage: Stage::Final, round };
            Some(seconds(&self.record.measurement(step, place, contestant)?.nanoseconds))
        };
        let own = |round| times(contestant, round);
        let both = (0..SURE_FINALS).filter_map(|round| own(round).zip(times(&default_contestant(), round)));
        let (seconds, default): (Vec<_>, Vec<_>) = both.unzip();
        match seconds.is_empty() {
            true => (0..SURE_FINALS).any(|round| own(round).is_some()),
            false => can_win(median_of_launches(&seconds), median_of_launches(&default)),
        }
    }

    /// Measures all contestants of a step, with as many jobs as it takes.
    fn perform(&mut self, setting: &Setting, step: TuningStep, cells: &[Racing]) -> Result<(), Failure> {
        let mut troubles = Troubles::default();
        let mut is_said = false;
        loop {
            self.check_interruption()?;
            let left = self.left(step, cells, &troubles.isolated);
            if left.is_empty() {
                break;
            }
            if !is_said {
                self.schedule.say(step, cells.len());
                is_said = true;
            }
            let race = Race {
                ranks: setting.placement.ranks,
                ranks_per_host: setting.placement.ranks_per_host,
                heats: heats(&left),
                contestants: Vec::new(),
            };
            let (ended, heard) = self.run(setting, step, &race);
            self.record.sync()?;
            self.check_interruption()?;
            self.judge(step, cells, &race, ended, heard, &mut troubles)?;
        }
        self.schedule.end(step.stage);
        Ok(())
    }

    fn check_interruption(&self) -> Result<(), Failure> {
        let folder = self.record.folder.display();
        interruption::check(|| format!("all that was measured is in {folder}, and {GOES_ON}"))
    }

    /// Returns the cells left to measure in a step, with their contestants, except where the default is excluded.
    fn left(&self, step: TuningStep, cells: &[Racing], isolated: &BTreeSet<CellKey>) -> Vec<Racing> {
        let mut left = Vec::new();
        for (place, contestants) in cells {
            let is_out = |one: &&Contestant| self.record.is_excluded(*place, one);
            if is_out(&&default_contestant()) {
                continue;
            }
            let racers: Vec<Contestant> = contestants.iter().filter(|one| !is_out(one)).cloned().collect();
            let is_done = |one: &Contestant| self.record.is_done(step, *place, one);
            if isolated.contains(place) {
                left.extend(racers.into_iter().filter(|one| !is_done(one)).map(|one| (*place, vec![one])));
            } else if !racers.iter().all(is_done) {
                left.push((*place, racers));
            }
        }
        left
    }

    fn run(&mut self, setting: &Setting, step: TuningStep, race: &Race) -> (Ended, Heard) {
        let launcher = self.launcher.repeating(self.plan.budget.words(step.stage, self.record.reference));
        let schedule = &self.schedule;
        let mut hearing = Hearing {
            job: self.record.jobs,
            record: &mut self.record,
            setting,
            step,
            show: |part| schedule.show(step.stage, part),
            heard: Heard::default(),
        };
        let ended = job::run(&launcher, race, &mut hearing);
        (ended, hearing.heard)
    }

    /// Draws conclusions from a job's end. Fails if another job makes no sense.
    fn judge(
        &mut self,
        step: TuningStep,
        cells: &[Racing],
        race: &Race,
        ended: Ended,
        heard: Heard,
        troubles: &mut Troubles,
    ) -> Result<(), Failure> {
        let complaint = ended.complaints(step.ranks).join("\n");
        if ended.is_hopeless {
            return Err(Failure::Input(complaint));
        }
        for fault in ended.faults.iter().filter(|fault| fault.cause == Cause::Failed) {
            eprintln!("rustcoll: {}; it is left out there", job::told(fault, step.ranks));
        }
        let blame = heard.blame(race);
        if let Some(failure) = heard.failure {
            return Err(failure);
        }
        let left = self.left(step, cells, &troubles.isolated);
        if left.is_empty() {
            return Ok(());
        }
        // Results that nobody asked for are no fruit.
        troubles.fruitless = if heats(&left) != race.heats { 0 } else { troubles.fruitless + 1 };
        match blame {
            Blame::One(trial) if !troubles.is_sure(cells, &trial) => {
                troubles.unexplained = 0;
                troubles.isolated.extend(place_of(cells, &trial));
            }
            Blame::One(trial) => {
                troubles.unexplained = 0;
                self.exclude(step, trial, ended.trouble.as_deref(), heard.hung.is_some())?;
            }
            Blame::Cell(trial) => {
                troubles.unexplained = 0;
                troubles.isolated.extend(place_of(cells, &trial));
            }
            // After wrong results, cells are measured again without the contestants that gave them; no job failed.
            Blame::Nobody if heard.results > 0 => troubles.unexplained = 0,
            Blame::Nobody => troubles.unexplained += 1,
        }
        if troubles.unexplained >= MOST_UNEXPLAINED || troubles.fruitless >= MOST_FRUITLESS {
            let jobs = counted(troubles.unexplained.max(troubles.fruitless), "job");
            return Err(Failure::Input(format!(
                "{jobs} in a row measured nothing; the last one:\n{complaint}"
            )));
        }
        Ok(())
    }

    /// Excludes a contestant from now on, with as many bytes or more.
    fn exclude(
        &mut self,
        step: TuningStep,
        trial: Trial,
        trouble: Option<&str>,
        hung: bool,
    ) -> Result<(), Failure> {
        let told = trouble.and_then(|trouble| trouble.lines().next()).unwrap_or("the job ended");
        let reason = match hung {
            true => format!("it did not end within {} s", self.plan.budget.limit),
            false => format!("the job ended when it was called: {told}"),
        };
        let Trial { collective, bytes, contestant } = trial;
        let ranks = step.ranks;
        eprintln!(
            "rustcoll: {collective} on {ranks} ranks, {bytes} bytes or more: {contestant} is left out: {reason}"
        );
        let event = Event::Concluded(Conclusion::Excluded { collective, bytes, contestant, reason });
        self.record.add(&Entry { job: self.record.jobs.saturating_sub(1), step, event })
    }
}

fn place_of(cells: &[Racing], trial: &Trial) -> Option<CellKey> {
    let is_there =
        |place: &CellKey| place.collective.name() == trial.collective && place.bytes == trial.bytes;
    cells.iter().map(|(place, _)| *place).find(is_there)
}

/// Converts times to the unit in which they are compared.
pub fn seconds(nanoseconds: &[u64]) -> Vec<f64> {
    nanoseconds.iter().map(|&time| time as f64 * 1e-9).collect()
}
