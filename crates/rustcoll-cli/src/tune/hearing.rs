//! Records what a job prints as it comes, and finds out which contestant is to blame if the job ends badly.

use super::entry::{Entry, Event, TuningStep};
use super::plan::Setting;
use super::record::Record;
use crate::bench::Race;
use crate::bench::job::Hearer;
use crate::failure::Failure;
use measurements::{Fault, OutputLine, Trial};
use std::ops::ControlFlow;

/// Receives the lines of one job.
pub struct Hearing<'tuning, Show> {
    /// Gets every line.
    pub record: &'tuning mut Record,
    /// Says where the ranks should be.
    pub setting: &'tuning Setting,
    pub step: TuningStep,
    /// The job's number.
    pub job: usize,
    /// Shows which part of the job is done.
    pub show: Show,
    pub heard: Heard,
}

/// What the tuner needs to know of a job besides its measurements.
#[derive(Debug, Default)]
pub struct Heard {
    /// The contestants that were called in the current cell, in this order.
    pub called: Vec<Trial>,
    /// The contestants whose result there was wrong. They are not called again.
    pub faulty: Vec<Trial>,
    /// The contestant whose call did not end in time.
    pub hung: Option<Trial>,
    /// Number of results.
    pub results: usize,
    /// Why the tuning cannot go on.
    pub failure: Option<Failure>,
}

impl<Show: Fn(f64)> Hearer for Hearing<'_, Show> {
    fn hear(&mut self, line: OutputLine, part: f64) -> ControlFlow<()> {
        let entry = Entry { job: self.job, step: self.step, event: Event::Said(line.clone()) };
        let placed =
            if let OutputLine::Job(job) = &line { self.setting.placement.check(job) } else { Ok(()) };
        let checked = placed.map_err(Failure::Input);
        if let Err(failure) = checked.and_then(|()| self.record.add(&entry)) {
            self.heard.failure = Some(failure);
            return ControlFlow::Break(());
        }
        self.heard.note(line);
        (self.show)(part);
        ControlFlow::Continue(())
    }
}

impl Heard {
    fn note(&mut self, line: OutputLine) {
        let is_elsewhere = |one: &Trial, collective: &str, bytes: usize| {
            (&one.collective[..], one.bytes) != (collective, bytes)
        };
        match line {
            OutputLine::Trying(trial) => {
                self.called.retain(|one| !is_elsewhere(one, &trial.collective, trial.bytes));
                self.called.push(trial);
            }
            OutputLine::Measurement(one) => {
                self.results += 1;
                self.called.retain(|trial| is_elsewhere(trial, &one.collective, one.bytes));
            }
            OutputLine::Fault(Fault { collective, bytes, contestant, .. }) => {
                self.faulty.push(Trial { collective, bytes, contestant });
            }
            OutputLine::Hung(trial) => self.hung = Some(trial),
            // The contestants that were called for the reference, with the least bytes, have ended these calls.
            OutputLine::Reference(_) => self.called.clear(),
            OutputLine::Job(_) => {}
        }
    }
}

/// Which contestant is to blame for a job that ended too early.
#[derive(Clone, Debug, PartialEq)]
pub enum Blame {
    /// One contestant.
    One(Trial),
    /// Any contestant in this cell.
    Cell(Trial),
    /// Unknown.
    Nobody,
}

impl Heard {
    /// Returns the contestant that was last called for the first time. If all in the cell had been called,
    /// any of them may have ended the job in a repetition, except those with wrong results.
    pub fn blame(&self, race: &Race) -> Blame {
        if let Some(trial) = &self.hung {
            return Blame::One(trial.clone());
        }
        let Some(last) = self.called.last() else { return Blame::Nobody };
        let is_there = |heat: &&measurements::Heat| {
            heat.series.name() == last.collective && heat.series.bytes.contains(&last.bytes)
        };
        let is_racing = |heat: &&measurements::Heat| {
            race.contestants_of(heat).iter().any(|one| one.to_string() == last.contestant)
        };
        let heat = race.heats.iter().find(|heat| is_there(heat) && is_racing(heat));
        let racers = heat.map_or(0, |heat| race.contestants_of(heat).len());
        if self.called.len() < racers {
            return Blame::One(last.clone());
        }
        let suspects: Vec<&Trial> = self.called.iter().filter(|one| !self.faulty.contains(one)).collect();
        match suspects[..] {
            [] => Blame::Nobody,
            [one] => Blame::One(one.clone()),
            [.., last] => Blame::Cell(last.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measurements::{Cause, Measurement};

    fn trial(bytes: usize, contestant: &str) -> Trial {
        Trial { collective: "bcast".into(), bytes, contestant: contestant.into() }
    }

    fn measured(bytes: usize, contestant: &str) -> OutputLine {
        OutputLine::Measurement(Measurement {
            collective: "bcast".into(),
            ranks: 4,
            bytes,
            contestant: contestant.into(),
            launch: 0,
            ran: String::new(),
            computing: 0,
            late: 0,
            nanoseconds: vec![1],
        })
    }

    fn blame(lines: Vec<OutputLine>) -> Blame {
        blame_in(&["bcast:8,64/rustcoll,rustcoll:chain", "bcast:512/rustcoll:chain"], &lines)
    }

    fn blame_in(heats: &[&str], lines: &[OutputLine]) -> Blame {
        let heats = heats.iter().map(|heat| heat.parse().unwrap()).collect();
        let race = Race { ranks: 4, ranks_per_host: 4, heats, contestants: Vec::new() };
        let mut heard = Heard::default();
        lines.iter().cloned().for_each(|line| heard.note(line));
        heard.blame(&race)
    }

    #[test]
    fn who_was_called_last_is_to_blame() {
        let (first, second) = (trial(8, "rustcoll"), trial(8, "rustcoll:chain"));
        assert_eq!(blame(vec![OutputLine::Trying(first.clone())]), Blame::One(first.clone()));
        let both = vec![OutputLine::Trying(first.clone()), OutputLine::Trying(second.clone())];
        assert_eq!(blame(both.clone()), Blame::Cell(second.clone()));
        let hung = [both.clone(), vec![OutputLine::Hung(first.clone())]].concat();
        assert_eq!(blame(hung), Blame::One(first));
        let done = [both, vec![measured(8, "rustcoll"), measured(8, "rustcoll:chain")]].concat();
        assert_eq!(blame(done.clone()), Blame::Nobody);
        let next = trial(64, "rustcoll");
        assert_eq!(blame([done, vec![OutputLine::Trying(next.clone())]].concat()), Blame::One(next));
    }

    #[test]
    fn who_is_alone_is_to_blame_also_later() {
        let alone = trial(512, "rustcoll:chain");
        assert_eq!(blame(vec![OutputLine::Trying(alone.clone())]), Blame::One(alone));
    }

    #[test]
    fn who_gave_a_wrong_result_is_not_called_again() {
        let fault = Fault {
            collective: "bcast".into(),
            bytes: 8,
            contestant: "rustcoll:chain".into(),
            message: "wrong".into(),
            cause: Cause::Failed,
        };
        let (first, second) = (trial(8, "rustcoll"), trial(8, "rustcoll:chain"));
        let both = [OutputLine::Trying(first.clone()), OutputLine::Trying(second)];
        assert_eq!(blame([&both[..], &[OutputLine::Fault(fault)]].concat()), Blame::One(first));
    }

    #[test]
    fn who_gave_a_wrong_result_was_called_nevertheless() {
        let racing = ["rustcoll", "rustcoll:chain", "rustcoll:binary"].map(|name| trial(8, name));
        let fault = Fault {
            collective: "bcast".into(),
            bytes: 8,
            contestant: "rustcoll".into(),
            message: "wrong".into(),
            cause: Cause::Failed,
        };
        let [one, other, last] = racing.clone().map(OutputLine::Trying);
        let called = [one, OutputLine::Fault(fault), other];
        let blame =
            |lines: &[OutputLine]| blame_in(&["bcast:8/rustcoll,rustcoll:chain,rustcoll:binary"], lines);
        assert_eq!(blame(&called), Blame::One(racing[1].clone()));
        // All three were called. Either of the two that are called again may be to blame.
        assert_eq!(blame(&[&called[..], &[last]].concat()), Blame::Cell(racing[2].clone()));
    }
}
