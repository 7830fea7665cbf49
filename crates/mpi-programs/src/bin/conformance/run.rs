//! Runs a case and checks its results.

use expected_results::random::combine;
use mpi_programs::call::Call;
use mpi_programs::communicator::Communicator;
use mpi_programs::component::{BELOW, CollectiveVariables, NAME, name_of, number};
use mpi_programs::environment::Error;
use mpi_programs::invocation::Form;
use rustcoll::algorithms::Algorithm;

use crate::case::Case;
use crate::progress::Progress;

/// How often a call is repeated without pause, each time with new data.
const REPETITIONS: u64 = 3;
/// Cases with at least this count are not repeated.
const LONG: usize = 10_000;

/// A prepared case and its outcome.
pub struct Trial<'a> {
    case: &'a Case,
    call: Call,
    variables: Option<&'a CollectiveVariables>,
    outcome: Result<(), Error>,
    ran: Option<Result<i32, Error>>,
    /// Whether only the forced algorithm may run.
    is_strict: bool,
}

impl<'a> Trial<'a> {
    /// Prepares the buffers.
    pub fn new(case: &'a Case, communicator: &Communicator, seed: u64) -> Result<Self, Error> {
        let call = case.prepare(communicator, seed)?;
        let is_strict = !case.may_be_skipped() && !case.may_be_left_to_rules();
        Ok(Trial { case, call, variables: None, outcome: Ok(()), ran: None, is_strict })
    }

    /// Chooses the algorithm and calls MPI. Afterwards a non-blocking or persistent operation is in flight.
    pub fn begin(
        &mut self,
        communicator: &Communicator,
        variables: Option<&'a CollectiveVariables>,
    ) -> Result<(), Error> {
        self.variables = variables;
        if let Some(variables) = variables {
            variables.choose(self.case.algorithm)?;
            for &(parameter, value) in &self.case.parameters {
                variables.set(parameter, value)?;
            }
        }
        self.outcome = self.call.begin(communicator, self.case.form);
        Ok(())
    }

    /// Starts a complete persistent operation again, with new data.
    pub fn restart(&mut self, seed: u64) {
        self.call.fill(seed);
        self.outcome = self.outcome.and(self.call.start());
    }

    /// Waits for the operation, then reads which algorithm ran: sometimes the component decides that late.
    pub fn finish(&mut self) {
        self.outcome = self.outcome.and(self.call.wait());
        self.ran = self.variables.map(|variables| variables.ran.read());
    }

    /// Frees the operator and the datatypes.
    pub fn free_handles(&self) {
        self.call.free_handles();
    }

    /// Checks the result, the send buffer and the algorithm that ran.
    pub fn judge(&self, progress: &mut Progress) {
        if let Err(error) = self.outcome {
            return progress.check(Some(format!("MPI reports an error: {error}")));
        }
        progress.check(self.call.difference());
        progress.check(self.call.changed_source().map(|change| format!("in the send buffer, {change}")));
        if let Some(ran) = self.ran
            && (self.case.algorithm.is_some() || self.case.remote > 0)
            && self.is_strict
        {
            progress.check(self.misled(ran));
        }
    }

    /// Returns a message if another algorithm ran than the one that had to.
    fn misled(&self, ran: Result<i32, Error>) -> Option<String> {
        let number = |algorithm: &Algorithm| number(self.case.collective, algorithm);
        let mut expected: Vec<i32> = self.case.serving().into_iter().map(number).collect();
        if expected.is_empty() {
            expected.push(BELOW);
        }
        let name = |number| name_of(self.case.collective, number);
        match ran {
            Err(error) => Some(format!("the variable that tells what ran cannot be read: {error}")),
            Ok(ran) if self.case.is_left_to_rules() => (Some(ran) == self.case.algorithm.map(number))
                .then(|| format!("{} ran, which cannot serve this call", name(ran))),
            Ok(ran) if expected.contains(&ran) => None,
            Ok(ran) => {
                let expected: Vec<&str> = expected.into_iter().map(name).collect();
                Some(format!("{} ran, expected {}", name(ran), expected.join(" or ")))
            }
        }
    }
}

/// Runs a case several times back to back, or in flight together. Returns the number of operations.
pub fn run(
    case: &Case,
    communicator: &Communicator,
    variables: Option<&CollectiveVariables>,
    seed: u64,
    progress: &mut Progress,
) -> Result<usize, Error> {
    progress.begin(format!("rank {}, {case}", communicator.rank()));
    let repetitions = if case.count < LONG { REPETITIONS } else { 1 };
    let is_rationed = case.form == Form::Persistent && case.may_be_left_to_rules();
    let own = if is_rationed { Some(communicator.dup_for(NAME)?) } else { None };
    let communicator = own.as_ref().unwrap_or(communicator);
    let mut trials = (0..repetitions)
        .map(|repetition| Trial::new(case, communicator, combine(&[seed, repetition])))
        .collect::<Result<Vec<_>, _>>()?;
    for trial in &mut trials {
        trial.begin(communicator, variables)?;
    }
    finish(&mut trials, progress);
    if case.form == Form::Persistent {
        trials.iter_mut().for_each(|trial| trial.restart(combine(&[seed, repetitions])));
        finish(&mut trials, progress);
        return Ok(2 * trials.len());
    }
    Ok(trials.len())
}

/// Waits for the trials in reverse order, and checks the results.
pub fn finish(trials: &mut [Trial], progress: &mut Progress) {
    trials.iter_mut().rev().for_each(Trial::finish);
    trials.iter().for_each(|trial| trial.judge(progress));
}
