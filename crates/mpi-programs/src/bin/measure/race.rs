//! Lets contestants take turns: checks them before the race, and reports their times.

use std::io;
use std::time::Duration;

use measurements::{
    Cause, Contestant, Fault, Heat, Measurement, OutputLine, Reference, Series, Shape, Trial,
};
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use mpi_programs::shares;
use rustcoll::algorithms::Collective;
use tuning::statistics::median;

use crate::bystander::Bystander;
use crate::cell::{Cell, SEED};
use crate::compute::Computing;
use crate::options::Options;
use crate::racer::{self, Racer};
use crate::repetitions::Repetitions;
use crate::shaped;
use crate::timing::{Contest, Timer, Times};
use crate::variables::Variables;

/// Why a contestant is not measured: a category and a message.
type Refusal = (Cause, String);

/// What all races of a job share.
#[derive(Debug)]
pub struct Setting<'job> {
    pub options: &'job Options,
    /// Carries what is not measured, by another component.
    pub control: &'job Communicator,
    /// Observes what rustcoll serves.
    pub bystander: &'job Bystander,
    /// Times the contestants in turn.
    pub timer: &'job Timer<'job>,
}

/// A heat and its racers. Their communicators live as long as the race.
#[derive(Debug)]
pub struct Race<'job> {
    setting: &'job Setting<'job>,
    series: &'job Series,
    variables: Variables,
    racers: Vec<Racer>,
    /// All ranks in the groups or with the neighbours of the series' shape, if the shape needs them.
    shaped: Option<Communicator>,
    /// All ranks in one group, served by rustcoll, if the shape has two groups.
    one_group: Option<Communicator>,
}

/// A racer whose result was right in a cell.
struct Entrant<'race> {
    racer: &'race Racer,
    /// The algorithm that ran.
    ran: String,
    computing: Computing,
}

/// Fails if so many ranks cannot make this call, or a contestant does not exist. All ranks find the same fault.
pub fn check(heat: &Heat, ranks: usize) -> Result<(), String> {
    heat.series.operation.check_ranks(ranks)?;
    racer::values(&heat.series, &heat.contestants, &mut Variables::default()).map(drop)
}

impl<'job> Race<'job> {
    /// Makes the communicators. Fails as [`check`] does.
    pub fn new(heat: &'job Heat, setting: &'job Setting<'job>) -> Result<Self, String> {
        let (series, mut variables) = (&heat.series, Variables::default());
        let refuse = |error: Error| format!("{}: {error}", series.name());
        let (control, shape) = (setting.control, series.operation.shape);
        let shaped = shaped::communicator(shape, control).map_err(refuse)?;
        let one_group = (shape == Shape::Inter).then(|| control.dup_for(Contestant::OWN)).transpose();
        let one_group = one_group.map_err(refuse)?;
        let model = shaped.as_ref().unwrap_or(control);
        let short_lived = setting.options.short_lived;
        let racers = Racer::all(series, &heat.contestants, &mut variables, model, short_lived)?;
        Ok(Race { setting, series, variables, racers, shaped, one_group })
    }

    /// Returns all ranks, with the groups or neighbours that the calls use.
    fn model(&self) -> &Communicator {
        self.shaped.as_ref().unwrap_or(self.setting.control)
    }

    /// Measures all cells, and passes on every line as soon as it is known.
    pub fn run(
        &self,
        tell: &mut impl FnMut(&OutputLine) -> io::Result<()>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let repetitions = match self.setting.options.estimate {
            true => self.estimate(tell)?,
            false => Repetitions::of(self.setting.options),
        };
        for &bytes in &self.series.bytes {
            let mut cell = self.cell(bytes)?;
            let mut entrants = Vec::new();
            for racer in &self.racers {
                let ran = self.checked(racer, &mut cell, tell)?;
                entrants.extend(ran.map(|ran| Entrant { racer, ran, computing: Computing::default() }));
            }
            let mut all_times = self.time(&entrants, &mut cell, repetitions)?;
            if self.series.operation.overlaps {
                for (entrant, times) in entrants.iter_mut().zip(&all_times) {
                    entrant.computing = self.computing(times);
                }
                all_times = self.time(&entrants, &mut cell, repetitions)?;
            }
            for (entrant, times) in entrants.iter().zip(all_times) {
                tell(&self.measurement(entrant, bytes, times))?;
            }
        }
        Ok(())
    }

    /// Returns how often contestants call. Measures the shortest calls until their time is precise enough.
    fn estimate(
        &self,
        tell: &mut impl FnMut(&OutputLine) -> io::Result<()>,
    ) -> Result<Repetitions, Box<dyn std::error::Error>> {
        let options = self.setting.options;
        let mut cell = self.cell(self.shortest())?;
        let mut seconds = Vec::new();
        for racer in self.racers.iter().filter(|racer| !racer.contestant.is_copy()) {
            if let Some(ran) = self.checked(racer, &mut cell, tell)? {
                let entrant = Entrant { racer, ran, computing: Computing::default() };
                let repetitions = Repetitions::of_reference(options);
                seconds = self.time(&[entrant], &mut cell, repetitions)?.remove(0).seconds;
                break;
            }
        }
        let all: f64 = seconds.iter().sum();
        let nanoseconds = nanoseconds(&seconds);
        let collective = self.series.name();
        tell(&OutputLine::Reference(Reference { collective, seconds: all, nanoseconds }))?;
        Ok(Repetitions::within(all.max(options.reference.unwrap_or(0.0)), options))
    }

    fn collective(&self) -> Collective {
        self.series.operation.collective
    }

    /// Returns a computation as long as the call's median time.
    fn computing(&self, times: &Times) -> Computing {
        let seconds = if times.seconds.is_empty() { 0.0 } else { median(&times.seconds) };
        Computing { time: Duration::from_secs_f64(seconds), has_processor: self.setting.options.hot }
    }

    /// Returns the bytes of one element, or 0 for a barrier.
    fn shortest(&self) -> usize {
        if self.collective() == Collective::Barrier { 0 } else { shares::ELEMENT }
    }

    fn cell(&self, bytes: usize) -> Result<Cell, Box<dyn std::error::Error>> {
        let operation = self.series.operation;
        let racers = self.racers.iter().filter(|_| operation.is_plain());
        let mock_ups = racers.filter_map(|racer| racer.contestant.mock_up());
        Cell::new(operation, self.model(), (bytes, self.copied(bytes)), mock_ups)
    }

    /// Returns how many bytes this rank copies, if `copy` is a contestant.
    fn copied(&self, bytes: usize) -> usize {
        let is_copied = self.racers.iter().any(|racer| racer.contestant.is_copy());
        let called = (self.collective(), self.series.operation.shape);
        let (membership, graph) = (self.model().membership(), &self.model().topology().graph);
        if is_copied { shares::received(called, membership, graph, bytes) } else { 0 }
    }

    fn time(
        &self,
        entrants: &[Entrant],
        cell: &mut Cell,
        repetitions: Repetitions,
    ) -> Result<Vec<Times>, Error> {
        self.setting.timer.time(&mut Turns { race: self, entrants, cell }, repetitions)
    }

    /// Has a contestant call once. Returns which algorithm ran, or reports the fault.
    fn checked(
        &self,
        racer: &Racer,
        cell: &mut Cell,
        tell: &mut impl FnMut(&OutputLine) -> io::Result<()>,
    ) -> Result<Option<String>, Box<dyn std::error::Error>> {
        let trial = self.trial(racer, cell.bytes);
        tell(&OutputLine::Trying(trial.clone()))?;
        let watchdog = self.setting.timer.watchdog();
        watchdog.watch_over(|| trial);
        watchdog.call_begins_in(Duration::ZERO);
        let result = self.check(racer, cell)?;
        watchdog.call_has_ended();
        match result {
            Ok(ran) => Ok(Some(ran)),
            Err(refusal) => {
                tell(&self.fault(racer, cell.bytes, refusal))?;
                Ok(None)
            }
        }
    }

    fn check(&self, racer: &Racer, cell: &mut Cell) -> Result<Result<String, Refusal>, Error> {
        if racer.contestant.is_copy() {
            return Ok(Ok(String::new()));
        }
        if racer.contestant.mock_up().is_some() && !self.series.operation.is_plain() {
            let reason = "not eligible: mock-ups stand for blocking collectives of equal blocks in one group alone, not for";
            return Ok(Err((Cause::NotEligible, format!("{reason} {}", self.series.name()))));
        }
        if let Some(lack) = racer.contestant.mock_up().and_then(|algorithm| cell.lack(algorithm)) {
            return Ok(Err((Cause::NotEligible, format!("not eligible: {lack}"))));
        }
        self.variables.apply(&racer.values)?;
        cell.call.fill(SEED);
        let call = || {
            racer.prepare(cell)?;
            racer.perform(cell, Computing::default())
        };
        let result = match racer.contestant.is_own() {
            true => self.check_own(racer, call)?,
            false => self.check_other(racer, call)?,
        };
        let difference = cell.call.difference().or_else(|| cell.call.changed_source());
        if !self.setting.control.everywhere(difference.is_none())? {
            let difference = difference.as_deref().unwrap_or("on another rank");
            return Ok(Err((Cause::Failed, format!("wrong result: {difference}"))));
        }
        Ok(result)
    }

    fn check_own(
        &self,
        racer: &Racer,
        call: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Result<String, Refusal>, Error> {
        call()?;
        let variables = self.setting.bystander.variables(self.collective());
        let Some(variables) = variables else { return Ok(Ok(String::new())) };
        let (ran, asked) = (variables.ran.read()?, variables.algorithm.read()?);
        let obeys = racer.contestant.algorithm.is_none() || ran == asked;
        let name = variables.name(ran);
        Ok(match self.setting.control.everywhere(obeys)? {
            true => Ok(name),
            false => Err((Cause::NotEligible, format!("this algorithm does not serve the call, but {name}"))),
        })
    }

    fn check_other(
        &self,
        racer: &Racer,
        call: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Result<String, Refusal>, Error> {
        // Between two groups rustcoll has one algorithm. After a call in one group, `ran` shows whether that algorithm
        // ran.
        if let Some(communicator) = &self.one_group {
            let called = (self.collective(), Shape::Even);
            shares::call(called, communicator, shares::ELEMENT, SEED)?.perform(communicator)?;
        }
        let stayed_away = self.setting.bystander.stays_away_from(call)?;
        let own = Contestant::OWN;
        Ok(match self.setting.control.everywhere(stayed_away)? {
            true => Ok(racer.contestant.algorithm.clone().unwrap_or_default()),
            false => Err((Cause::Failed, format!("{own} serves its calls; coll_{own}_priority must be low"))),
        })
    }

    fn trial(&self, racer: &Racer, bytes: usize) -> Trial {
        let (collective, contestant) = (self.series.name(), racer.contestant.to_string());
        Trial { collective, bytes, contestant }
    }

    fn fault(&self, racer: &Racer, bytes: usize, (cause, message): Refusal) -> OutputLine {
        let Trial { collective, bytes, contestant } = self.trial(racer, bytes);
        OutputLine::Fault(Fault { collective, bytes, contestant, message, cause })
    }

    fn measurement(
        &self,
        Entrant { racer, ran, computing }: &Entrant,
        bytes: usize,
        times: Times,
    ) -> OutputLine {
        let has_computed = !computing.time.is_zero();
        if times.seconds.is_empty() || has_computed != self.series.operation.overlaps {
            return self.fault(racer, bytes, (Cause::Late, "in every repetition a rank was late".into()));
        }
        let Trial { collective, bytes, contestant } = self.trial(racer, bytes);
        OutputLine::Measurement(Measurement {
            collective,
            ranks: self.setting.control.size(),
            bytes,
            contestant,
            launch: 0,
            ran: ran.clone(),
            late: times.late,
            computing: computing.time.as_nanos() as u64,
            nanoseconds: nanoseconds(&times.seconds),
        })
    }
}

/// The entrants of one cell.
struct Turns<'race> {
    race: &'race Race<'race>,
    entrants: &'race [Entrant<'race>],
    cell: &'race mut Cell,
}

impl Contest for Turns<'_> {
    fn contestants(&self) -> usize {
        self.entrants.len()
    }

    fn needs_warming_up(&self, contestant: usize) -> bool {
        self.entrants[contestant].racer.needs_warming_up()
    }

    fn prepare(&mut self, contestant: usize) -> Result<(), Error> {
        let (race, racer) = (self.race, self.entrants[contestant].racer);
        let watchdog = race.setting.timer.watchdog();
        watchdog.watch_over(|| race.trial(racer, self.cell.bytes));
        race.variables.apply(&racer.values)?;
        watchdog.call_begins_in(Duration::ZERO);
        racer.prepare(self.cell)?;
        watchdog.call_has_ended();
        Ok(())
    }

    fn renew(&mut self) {
        self.cell.call.rewrite_input();
    }

    fn call(&mut self, contestant: usize) -> Result<(), Error> {
        let Entrant { racer, computing, .. } = &self.entrants[contestant];
        racer.perform(self.cell, *computing)
    }
}

fn nanoseconds(seconds: &[f64]) -> Vec<u64> {
    seconds.iter().map(|seconds| (seconds * 1e9).round() as u64).collect()
}
