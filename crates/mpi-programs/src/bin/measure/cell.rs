//! What all contestants call with one message size.

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

/// Seed of the data of calls.
pub const SEED: u64 = 1;

/// One message size of a series. All contestants make the same call.
#[derive(Debug)]
pub struct Cell {
    /// Message size in bytes, by the collective's measure.
    pub bytes: usize,
    pub call: Call,
    /// What the contestant `copy` copies instead of calling.
    pub copy: Copy,
    /// Mock-ups by name, with their memory, or why there is no room for them.
    mock_ups: Vec<(&'static str, Result<MockUp, NoRoom>)>,
    /// The number of the racer that owns the call's persistent request.
    request_of: Option<usize>,
}

impl Cell {
    /// Makes a cell with these mock-ups. Fails if a count does not fit into an int.
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

    /// Returns why there is no room for a mock-up on some rank, or `None`.
    pub fn lack(&self, algorithm: &Algorithm) -> Option<NoRoom> {
        let known = self.mock_ups.iter().find(|(name, _)| *name == algorithm.name);
        known.and_then(|(_, made)| made.as_ref().err().copied())
    }

    /// Makes a racer's persistent request on a communicator, unless the call has it already. Frees another racer's
    /// request.
    pub fn make_request(&mut self, racer: usize, communicator: &Communicator) -> Result<(), Error> {
        if self.request_of != Some(racer) {
            self.request_of = None;
            self.call.free_request()?;
            self.call.prepare(communicator, Form::Persistent)?;
            self.request_of = Some(racer);
        }
        Ok(())
    }

    /// Calls in this form, computes in the meantime, and waits until the operation is done. A persistent
    /// request must exist.
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

    /// Makes the calls of a mock-up on a communicator.
    ///
    /// # Panics
    /// If the cell has no such mock-up, or there is no room for it.
    pub fn perform_by(&mut self, algorithm: &Algorithm, communicator: &Communicator) -> Result<(), Error> {
        let known = self.mock_ups.iter_mut().find(|(name, _)| *name == algorithm.name);
        let (_, mock_up) = known.expect("the cell has the mock-ups of its heat");
        let mock_up = mock_up.as_mut().expect("who has no room is not asked");
        self.call.perform_by(mock_up, communicator)
    }
}
