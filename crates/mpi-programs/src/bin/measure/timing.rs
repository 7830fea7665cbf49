//! Repetitions in turn, and their times: from the common start to the end of the last rank.

use std::cell::Cell;
use std::time::Instant;

use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;

use crate::clock::{now, sleep_until};
use crate::options::Options;

/// Hot calls of a contestant before it is the next one's turn, and those before them that are not counted.
const CHUNK: usize = 10;
const WARM_UP: usize = 2;

/// How often a repetition is tried in which a rank is late.
const ATTEMPTS: usize = 8;

/// The longest time in seconds from agreeing on a start until the start.
const LONGEST_SLACK: f64 = 1.0;

/// The times of one contestant.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Of the last ranks.
    pub seconds: Vec<f64>,
    /// How many repetitions were dropped because a rank was late.
    pub late: usize,
}

/// How repetitions are timed.
#[derive(Debug)]
pub struct Clock<'job> {
    options: &'job Options,
    /// In seconds; it grows.
    slack: Cell<f64>,
}

impl<'job> Clock<'job> {
    /// As the options say.
    pub fn new(options: &'job Options) -> Self {
        Clock { options, slack: Cell::new(options.slack as f64 * 1e-3) }
    }

    /// Times contestants, who are called by their number, and told whether it is the first call of a turn. The order of turns
    /// rotates, so that none always follows the same other one.
    pub fn time(
        &self,
        contestants: usize,
        control: &Communicator,
        mut call: impl FnMut(usize, bool) -> Result<(), Error>,
    ) -> Result<Vec<Times>, Error> {
        let mut all = vec![Times::default(); contestants];
        let begin = Instant::now();
        let mut round = 0;
        while contestants > 0 && control.told_by(0, self.goes_on(round, begin))? {
            for place in 0..contestants {
                let turn = (round + place) % contestants;
                let call = |is_new| call(turn, is_new);
                match self.options.hot {
                    true => chunk(control, &mut all[turn], call)?,
                    false => self.repetition(control, &mut all[turn], call)?,
                }
            }
            round += 1;
        }
        Ok(all)
    }

    fn goes_on(&self, rounds: usize, begin: Instant) -> bool {
        let repetitions = rounds * if self.options.hot { CHUNK } else { 1 };
        let is_within = |most: u32| repetitions < most as usize;
        let has_time = begin.elapsed() < self.options.budget();
        is_within(self.options.at_least) || is_within(self.options.at_most) && has_time
    }

    /// One repetition from a common start. It is tried again if a rank was late, with more time until the start.
    fn repetition(
        &self,
        control: &Communicator,
        times: &mut Times,
        mut call: impl FnMut(bool) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for attempt in 0..ATTEMPTS {
            let start = control.number_told_by(0, now() + self.slack.get())?;
            let is_late = now() > start;
            sleep_until(start);
            call(attempt == 0)?;
            let time = if is_late { f64::INFINITY } else { now() - start };
            // Nobody goes on before all are here.
            let last = control.maxima(&[time])?[0];
            if last.is_finite() {
                times.seconds.push(last);
                return Ok(());
            }
            times.late += 1;
            self.slack.set((2.0 * self.slack.get()).min(LONGEST_SLACK));
        }
        Ok(())
    }
}

/// Calls that follow barriers.
fn chunk(
    control: &Communicator,
    times: &mut Times,
    mut call: impl FnMut(bool) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut own = Vec::with_capacity(WARM_UP + CHUNK);
    for number in 0..WARM_UP + CHUNK {
        control.barrier()?;
        let start = Instant::now();
        call(number == 0)?;
        own.push(start.elapsed().as_secs_f64());
    }
    times.seconds.extend(control.maxima(&own[WARM_UP..])?);
    Ok(())
}
