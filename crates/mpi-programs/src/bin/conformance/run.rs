//! Runs a case and checks what came of it.

use mpi_programs::call::Call;
use mpi_programs::communicator::Communicator;
use mpi_programs::component::{BELOW, CollectiveVariables, name_of, number};
use mpi_programs::environment::Error;
use mpi_programs::random::combine;

use crate::case::Case;
use crate::progress::Progress;

/// How often a call is repeated without a pause, with new data.
const REPETITIONS: u64 = 3;
/// Vectors from this length on are not repeated.
const LONG: usize = 10_000;

/// A prepared case, and what came of it.
pub struct Trial<'a> {
    case: &'a Case,
    call: Call,
    outcome: Option<Result<(), Error>>,
    ran: Option<Result<i32, Error>>,
}

impl<'a> Trial<'a> {
    /// Prepares the buffers.
    pub fn new(case: &'a Case, communicator: &Communicator, seed: u64) -> Result<Self, Error> {
        Ok(Trial { case, call: case.prepare(communicator, seed)?, outcome: None, ran: None })
    }

    /// Chooses the algorithm, calls MPI, and asks which algorithm ran.
    pub fn perform(
        &mut self,
        communicator: &Communicator,
        variables: Option<&CollectiveVariables>,
    ) -> Result<(), Error> {
        if let Some(variables) = variables {
            variables.choose(self.case.algorithm)?;
            for &(parameter, value) in &self.case.parameters {
                variables.set(parameter, value)?;
            }
        }
        self.outcome = Some(self.call.perform(communicator));
        self.ran = variables.map(|variables| variables.ran.read());
        Ok(())
    }

    /// Checks the result.
    pub fn judge(&self, progress: &mut Progress) {
        if let Some(Err(error)) = self.outcome {
            return progress.check(Some(format!("MPI reports an error: {error}")));
        }
        progress.check(self.call.difference());
        progress.check(self.call.changed_source().map(|change| format!("in the send buffer, {change}")));
        if let Some(ran) = self.ran
            && self.case.algorithm.is_some()
            && !self.case.may_be_skipped()
        {
            progress.check(self.misled(ran));
        }
    }

    /// Tells which algorithm ran if it was not the one that had to.
    fn misled(&self, ran: Result<i32, Error>) -> Option<String> {
        let expected = self.case.serving().map_or(BELOW, number);
        match ran {
            Err(error) => Some(format!("the variable that tells what ran cannot be read: {error}")),
            Ok(ran) if ran == expected => None,
            Ok(ran) => {
                let name = |number| name_of(self.case.collective, number);
                Some(format!("{} ran ({ran}), expected {} ({expected})", name(ran), name(expected)))
            }
        }
    }
}

/// Runs a case several times back to back.
pub fn run(
    case: &Case,
    communicator: &Communicator,
    variables: Option<&CollectiveVariables>,
    seed: u64,
    progress: &mut Progress,
) -> Result<(), Error> {
    progress.begin(format!("rank {}, {case}", communicator.rank()));
    let repetitions = if case.count < LONG { REPETITIONS } else { 1 };
    let mut trials = (0..repetitions)
        .map(|repetition| Trial::new(case, communicator, combine(&[seed, repetition])))
        .collect::<Result<Vec<_>, _>>()?;
    for trial in &mut trials {
        trial.perform(communicator, variables)?;
    }
    trials.iter().for_each(|trial| trial.judge(progress));
    Ok(())
}
