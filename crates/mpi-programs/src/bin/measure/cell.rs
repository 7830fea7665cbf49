//! What all contestants call at one message size.

use measurements::Operation;
use mpi_programs::call::Call;
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use mpi_programs::invocation::Form;
use mpi_programs::mock_up::MockUp;
use mpi_programs::shares;
use rustcoll::algorithms::Algorithm;
use rustcoll::engine::mock_up::{Deeds, Limits, NoRoom};

use crate::compute::Computing;
use crate::copy::Copy;

/// From which the data of calls are made.
pub const SEED: u64 = 1;

/// One cell, in which all make the same call.
#[derive(Debug)]
pub struct Cell {
    /// Its message size by the collective's measure, in bytes.
    pub bytes: usize,
    /// The call.
    pub call: Call,
    /// What is copied instead.
    pub copy: Copy,
    /// What mock-ups do instead, by name, with their memory, as far as there is room for them.
    mock_ups: Vec<(&'static str, Result<MockUp, NoRoom>)>,
    /// The number of the racer whose persistent request the call has.
    request_of: Option<usize>,
}

impl Cell {
    /// With the mock-ups that somebody needs. Fails if MPI does not take such a call.
    pub fn new(
        Operation { collective, shape, .. }: Operation,
        communicator: &Communicator,
        (bytes, copied): (usize, usize),
        mock_ups: impl IntoIterator<Item = &'static Algorithm>,
    ) -> Result<Cell, Box<dyn std::error::Error>> {
        let call = shares::call((collective, shape), communicator, bytes, SEED)?;
        let mock_up = |algorithm: &'static Algorithm| {
            let room = Deeds::check_room(algorithm, communicator.size(), 0, bytes, Limits::DEFAULT);
            let made = match room {
                Ok(()) => Ok(call.mock_up(algorithm, communicator).map_err(|_| {
                    format!("{} of {bytes} bytes has counts that no int holds", algorithm.name)
                })?),
                Err(lack) => Err(lack),
            };
            Ok::<_, String>((algorithm.name, made))
        };
        let mock_ups = mock_ups.into_iter().map(mock_up).collect::<Result<_, _>>()?;
        Ok(Cell { bytes, call, copy: Copy::of(copied), mock_ups, request_of: None })
    }

    /// Why there is no room for one of the mock-ups, on any rank.
    pub fn lack(&self, algorithm: &Algorithm) -> Option<NoRoom> {
        let known = self.mock_ups.iter().find(|(name, _)| *name == algorithm.name);
        known.and_then(|(_, made)| made.as_ref().err().copied())
    }

    /// Makes a racer's persistent request on a communicator, unless the call has it already. The one of another racer is freed.
    pub fn make_request(&mut self, racer: usize, communicator: &Communicator) -> Result<(), Error> {
        if self.request_of != Some(racer) {
            self.request_of = None;
            self.call.free_request()?;
            self.call.prepare(communicator, Form::Persistent)?;
            self.request_of = Some(racer);
        }
        Ok(())
    }

    /// Calls in one of the forms, computes meanwhile, and waits until the operation is done. A persistent request must have been
    /// made.
    pub fn perform(
        &mut self,
        form: Form,
        communicator: &Communicator,
        computing: Computing,
    ) -> Result<(), Error> {
        match form {
            Form::Blocking => return self.call.perform(communicator),
            Form::Nonblocking => self.call.begin(communicator, form)?,
            Form::Persistent => self.call.start()?,
        }
        computing.perform();
        self.call.wait()
    }

    /// Has one of the mock-ups make its calls on a communicator.
    ///
    /// # Panics
    /// If the cell was made without it, or there is no room for it.
    pub fn perform_by(&mut self, algorithm: &Algorithm, communicator: &Communicator) -> Result<(), Error> {
        let known = self.mock_ups.iter_mut().find(|(name, _)| *name == algorithm.name);
        let (_, mock_up) = known.expect("the cell has the mock-ups of its heat");
        let mock_up = mock_up.as_mut().expect("who has no room is not asked");
        self.call.perform_by(mock_up, communicator)
    }
}
