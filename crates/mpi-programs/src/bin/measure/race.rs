//! Contestants and their communicators, and what is checked before they race.

use measurements::{Contestant, Fault, Line, Measurement};
use mpi_programs::call::Call;
use mpi_programs::communicator::Communicator;
use mpi_programs::component::name_of;
use mpi_programs::environment::Error;
use mpi_programs::even;
use rustcoll::algorithms::Collective;

use crate::bystander::Bystander;
use crate::copy::Copy;
use crate::timing::{Clock, Times};
use crate::variables::{Values, Variables};

const SEED: u64 = 1;

/// A contestant and the communicator on which its component comes first.
#[derive(Debug)]
struct Racer {
    contestant: Contestant,
    values: Values,
    /// None for a copy, which calls nobody.
    communicator: Option<Communicator>,
}

impl Racer {
    fn perform(&self, call: &mut Call, copy: &mut Copy) -> Result<(), Error> {
        match &self.communicator {
            Some(communicator) => call.perform(communicator),
            None => {
                copy.perform();
                Ok(())
            }
        }
    }
}

/// The contestants of a collective.
#[derive(Debug)]
pub struct Race<'job> {
    collective: Collective,
    /// What is not measured travels here, by another component.
    control: &'job Communicator,
    bystander: &'job Bystander,
    variables: Variables,
    racers: Vec<Racer>,
}

impl<'job> Race<'job> {
    /// Makes communicators. Fails if a contestant is not there, which all ranks find alike.
    pub fn new(
        collective: Collective,
        contestants: &[Contestant],
        control: &'job Communicator,
        bystander: &'job Bystander,
    ) -> Result<Self, String> {
        let mut variables = Variables::default();
        let mut all_values = Vec::new();
        for contestant in contestants {
            let values = variables.values(collective, contestant);
            all_values.push(values.map_err(|reason| format!("the contestant {contestant}: {reason}"))?);
        }
        let mut racers = Vec::new();
        for (contestant, values) in contestants.iter().zip(all_values) {
            // Some components look at their variables when a communicator is made.
            let communicator = variables.apply(&values).and_then(|()| communicator_for(contestant, control));
            let communicator =
                communicator.map_err(|error| format!("the contestant {contestant}: {error}"))?;
            racers.push(Racer { contestant: contestant.clone(), values, communicator });
        }
        Ok(Race { collective, control, bystander, variables, racers })
    }

    /// Measures with so many bytes.
    pub fn run(&self, bytes: usize, clock: &Clock) -> Result<Vec<Line>, Error> {
        let mut call = even::call(self.collective, self.control, bytes, SEED)?;
        let mut copy = Copy::of(self.copied(bytes));
        let mut lines = Vec::new();
        let mut checked = Vec::new();
        for racer in &self.racers {
            match self.check(racer, &mut call)? {
                Ok(ran) => checked.push((racer, ran)),
                Err(message) => lines.push(self.fault(racer, bytes, message)),
            }
        }
        let all_times = clock.time(checked.len(), self.control, |place, is_new| {
            let (racer, _) = checked[place];
            if is_new {
                self.variables.apply(&racer.values)?;
            }
            racer.perform(&mut call, &mut copy)
        })?;
        for ((racer, ran), times) in checked.into_iter().zip(all_times) {
            lines.push(self.measurement(racer, bytes, ran, times));
        }
        Ok(lines)
    }

    /// How many bytes this rank copies, if anybody does.
    fn copied(&self, bytes: usize) -> usize {
        let is_copied = self.racers.iter().any(|racer| racer.contestant.is_copy());
        let (rank, ranks) = (self.control.rank(), self.control.size());
        if is_copied { even::received(self.collective, rank, ranks, bytes) } else { 0 }
    }

    /// Calls once; tells which algorithm ran, or what is wrong.
    fn check(&self, racer: &Racer, call: &mut Call) -> Result<Result<String, String>, Error> {
        let Some(communicator) = &racer.communicator else { return Ok(Ok(String::new())) };
        self.variables.apply(&racer.values)?;
        call.fill(SEED);
        let result = match racer.contestant.is_own() {
            true => self.check_own(&racer.contestant, || call.perform(communicator))?,
            false => self.check_other(&racer.contestant, || call.perform(communicator))?,
        };
        let difference = call.difference().or_else(|| call.changed_source());
        if !self.control.everywhere(difference.is_none())? {
            return Ok(Err(format!("wrong result: {}", difference.as_deref().unwrap_or("on another rank"))));
        }
        Ok(result)
    }

    fn check_own(
        &self,
        contestant: &Contestant,
        call: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Result<String, String>, Error> {
        call()?;
        let Some(variables) = self.bystander.variables(self.collective) else { return Ok(Ok(String::new())) };
        let (ran, asked) = (variables.ran.read()?, variables.algorithm.read()?);
        let obeys = contestant.algorithm.is_none() || ran == asked;
        let name = name_of(self.collective, ran);
        Ok(match self.control.everywhere(obeys)? {
            true => Ok(name.to_owned()),
            false => Err(format!("this algorithm does not serve the call, but {name}")),
        })
    }

    fn check_other(
        &self,
        contestant: &Contestant,
        call: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Result<String, String>, Error> {
        let stayed_away = self.bystander.stays_away_from(call)?;
        let own = Contestant::OWN;
        Ok(match self.control.everywhere(stayed_away)? {
            true => Ok(contestant.algorithm.clone().unwrap_or_default()),
            false => Err(format!("{own} serves its calls; coll_{own}_priority must be low")),
        })
    }

    fn fault(&self, racer: &Racer, bytes: usize, message: String) -> Line {
        let (collective, contestant) = (self.collective.name().to_owned(), racer.contestant.to_string());
        Line::Fault(Fault { collective, bytes, contestant, message })
    }

    fn measurement(&self, racer: &Racer, bytes: usize, ran: String, times: Times) -> Line {
        if times.seconds.is_empty() {
            return self.fault(racer, bytes, "in every repetition a rank was late".into());
        }
        Line::Measurement(Measurement {
            collective: self.collective.name().to_owned(),
            ranks: self.control.size(),
            bytes,
            contestant: racer.contestant.to_string(),
            launch: 0,
            ran,
            late: times.late,
            nanoseconds: times.seconds.iter().map(|seconds| (seconds * 1e9).round() as u64).collect(),
        })
    }
}

fn communicator_for(contestant: &Contestant, control: &Communicator) -> Result<Option<Communicator>, Error> {
    match contestant.is_copy() {
        true => Ok(None),
        false => control.dup_for(&preference(contestant)).map(Some),
    }
}

/// A component that cannot serve a communicator leaves it to the others: rustcoll must not be one of them.
fn preference(contestant: &Contestant) -> String {
    match contestant.is_own() {
        true => contestant.component.clone(),
        false => format!("{},^{}", contestant.component, Contestant::OWN),
    }
}
