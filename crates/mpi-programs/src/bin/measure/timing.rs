//! Repetitions in turn, and their times: from the common start until the last rank has ended.

use std::cell::Cell;
use std::time::{Duration, Instant};

use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;

use crate::clock::Clock;
use crate::options::Options;
use crate::repetitions::Repetitions;
use crate::watchdog::Watchdog;

/// Hot calls of a contestant in one turn, and the calls before them that are not counted.
const CHUNK: usize = 10;
const WARM_UP: usize = 2;

/// Seconds. In shorter calls, what a component prepares in the first call of a turn would show.
const BRIEF: f64 = 1e-3;

/// How often a repetition is tried if a rank is late.
const ATTEMPTS: usize = 8;

/// The longest and the shortest slack in seconds: the time from agreeing on a start until the start.
const LONGEST_SLACK: f64 = 1.0;
const SHORTEST_SLACK: f64 = 1e-3;

/// The next slack is at least `SPARE` times as long as the last rank took to learn this start, and at least
/// `KEPT` times this slack.
const SPARE: f64 = 2.0;
const KEPT: f64 = 0.75;

#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Of the last rank in each repetition; the same on all ranks.
    pub seconds: Vec<f64>,
    /// Repetitions that were dropped because a rank was late.
    pub late: usize,
    /// Number of repetitions, including those that were given up.
    tried: usize,
}

/// Contestants, which have numbers.
pub trait Contest {
    /// Returns the number of contestants.
    fn contestants(&self) -> usize;

    /// Whether the first call of a turn takes longer than later ones.
    fn needs_warming_up(&self, contestant: usize) -> bool;

    /// Prepares for a turn, before the ranks agree on a start.
    fn prepare(&mut self, contestant: usize) -> Result<(), Error>;

    /// Writes the calls' input anew on this rank.
    fn renew(&mut self);

    fn call(&mut self, contestant: usize) -> Result<(), Error>;
}

/// Times the repetitions.
#[derive(Debug)]
pub struct Timer<'job> {
    options: &'job Options,
    control: &'job Communicator,
    clock: Clock,
    watchdog: Watchdog,
    /// Seconds from agreeing on a start until the start. It follows how long ranks take to learn of a start.
    slack: Cell<f64>,
}

impl<'job> Timer<'job> {
    /// Makes a timer for the ranks of `control`.
    pub fn new(
        options: &'job Options,
        control: &'job Communicator,
        clock: Clock,
        watchdog: Watchdog,
    ) -> Self {
        Timer { options, control, clock, watchdog, slack: Cell::new(options.slack as f64 * 1e-3) }
    }

    pub fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    /// Times the contestants in rounds of turns.
    /// A contestant with enough repetitions drops out.
    pub fn time(&self, contest: &mut impl Contest, repetitions: Repetitions) -> Result<Vec<Times>, Error> {
        let contestants = contest.contestants();
        let mut all = vec![Times::default(); contestants];
        self.clock.synchronise(self.control)?;
        let begin = Instant::now();
        for round in 0.. {
            let has_time = self.control.told_by(0, begin.elapsed() < self.options.budget())?;
            // All ranks know the same times, so they decide alike.
            let goes_on = |turn: &usize| repetitions.go_on(all[*turn].tried, &all[*turn].seconds, has_time);
            let turns: Vec<usize> = order(contestants, round).into_iter().filter(goes_on).collect();
            if turns.is_empty() {
                break;
            }
            for turn in turns {
                contest.prepare(turn)?;
                if !self.options.hot && contest.needs_warming_up(turn) && is_brief(&all[turn]) {
                    self.watchdog.call_begins_in(Duration::ZERO);
                    contest.call(turn)?;
                }
                match self.options.hot {
                    true => self.chunk(&mut all[turn], contest, turn)?,
                    false => self.repetition(&mut all[turn], contest, turn)?,
                }
            }
        }
        Ok(all)
    }

    /// Times one repetition from a common start. If a rank is late, the ranks try again with a longer slack.
    fn repetition(&self, times: &mut Times, contest: &mut impl Contest, turn: usize) -> Result<(), Error> {
        times.tried += 1;
        for _ in 0..ATTEMPTS {
            self.renew(contest);
            let slack = self.slack.get();
            let start = self.control.number_told_by(0, self.clock.now() + slack)?;
            self.watchdog.call_begins_in(Duration::from_secs_f64(slack));
            let hearing = self.clock.now() - (start - slack);
            self.clock.sleep_until(start);
            contest.call(turn)?;
            let time = if hearing > slack { f64::INFINITY } else { self.clock.now() - start };
            // No rank goes on before all ranks have arrived.
            let [last, hearing] = self.control.maxima(&[time, hearing])?[..] else {
                unreachable!("there are as many maxima as numbers")
            };
            self.watchdog.call_has_ended();
            self.slack.set(next_slack(slack, hearing));
            if last.is_finite() {
                times.seconds.push(last);
                return Ok(());
            }
            times.late += 1;
        }
        Ok(())
    }

    fn renew(&self, contest: &mut impl Contest) {
        if self.options.fresh {
            contest.renew();
        }
    }

    /// Times calls that follow barriers.
    fn chunk(&self, times: &mut Times, contest: &mut impl Contest, turn: usize) -> Result<(), Error> {
        times.tried += CHUNK;
        let mut own = Vec::with_capacity(WARM_UP + CHUNK);
        for _ in 0..WARM_UP + CHUNK {
            self.renew(contest);
            self.watchdog.call_begins_in(Duration::ZERO);
            self.control.dissemination_barrier()?;
            let start = Instant::now();
            contest.call(turn)?;
            own.push(start.elapsed().as_secs_f64());
        }
        times.seconds.extend(self.control.maxima(&own[WARM_UP..])?);
        self.watchdog.call_has_ended();
        Ok(())
    }
}

/// Returns the order of the contestants in a round: Williams's design. In twice as many rounds as there are contestants, each follows each
/// other one equally often within a round. What a contestant leaves behind, as in caches, then meets all others alike.
fn order(contestants: usize, round: usize) -> Vec<usize> {
    let zigzag =
        |place: usize| if place.is_multiple_of(2) { place / 2 } else { contestants - place.div_ceil(2) };
    let order = (0..contestants).map(|place| (round + zigzag(place)) % contestants);
    // Of an odd number, only the mirrored rounds balance the others.
    if (round / contestants.max(1)).is_multiple_of(2) { order.collect() } else { order.rev().collect() }
}

/// Returns the next slack in seconds, from this slack and the time until the last rank learned the start.
fn next_slack(slack: f64, hearing: f64) -> f64 {
    let kept = if hearing > slack { 2.0 * slack } else { KEPT * slack };
    kept.max(SPARE * hearing).clamp(SHORTEST_SLACK, LONGEST_SLACK)
}

/// Whether a contestant's last call was short; the same on all ranks.
fn is_brief(times: &Times) -> bool {
    times.seconds.last().is_some_and(|&last| last < BRIEF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_contestant_follows_each_other_one_equally_often() {
        for contestants in 2..=7 {
            let mut neighbours: BTreeMap<(usize, usize), usize> = BTreeMap::new();
            for round in 0..2 * contestants {
                let order = order(contestants, round);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..contestants).collect::<Vec<_>>());
                for pair in order.windows(2) {
                    *neighbours.entry((pair[0], pair[1])).or_default() += 1;
                }
            }
            assert_eq!(neighbours.len(), contestants * (contestants - 1), "{contestants}");
            assert!(neighbours.values().all(|times| *times == 2), "{contestants}: {neighbours:?}");
        }
    }

    #[test]
    fn slack_follows_what_it_takes_to_hear_of_a_start() {
        assert_eq!(next_slack(0.02, 0.004), 0.015);
        assert_eq!(next_slack(0.01, 0.004), 0.008);
        assert_eq!(next_slack(0.02, 0.03), 0.06);
        assert_eq!(next_slack(0.002, 1e-6), 0.0015);
        assert_eq!(next_slack(0.001, 1e-6), SHORTEST_SLACK);
        assert_eq!(next_slack(0.9, 5.0), LONGEST_SLACK);
    }
}
