//! One call of a collective with its buffers and its expected result.

use std::rc::Rc;

use expected_results::buffers::{self, Buffers};
use expected_results::storage;
use mpi_sys::MPI_Request;
use rustcoll::algorithms::{Algorithm, Collective};

use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::device::DeviceMemory;
use crate::environment::{Error, check};
use crate::image::Image;
use crate::invocation::{Form, Invocation};
use crate::mock_up::{Buffers as Caller, MockUp, TooLong};
use crate::operator::Operator;

/// A number of elements.
pub type Elements = expected_results::image::Elements<Rc<Datatype>>;

pub type Arguments = buffers::Arguments<Rc<Datatype>>;

/// A collective and its arguments, ready to be called. It owns what MPI uses. Dropping it waits for the operation.
#[derive(Debug)]
pub struct Call {
    buffers: Buffers<Rc<Datatype>>,
    operator: Option<Operator>,
    request: MPI_Request,
}

impl Call {
    /// Makes a call whose contents follow from the seed, with an operator for the arguments' arithmetic.
    pub fn new(communicator: &Communicator, arguments: &Arguments, seed: u64) -> Result<Self, Error> {
        let graph = &communicator.topology().graph;
        Ok(Call {
            buffers: Buffers::new(arguments, communicator.membership(), graph, seed),
            operator: arguments.arithmetic.map(Operator::new).transpose()?,
            // SAFETY: reads a constant.
            request: unsafe { mpi_sys::RSMPI_REQUEST_NULL },
        })
    }

    /// Moves some of the buffers to the job's device; other ranks move other buffers. With `only_plain`, buffers with
    /// gaps stay.
    pub fn move_to_device(mut self, rank: usize, only_plain: bool) -> Self {
        let may_move = |image: &Image| image.is_plain() || !only_plain;
        let make =
            |bytes| DeviceMemory::new(bytes).map(|memory| Box::new(memory) as Box<dyn storage::OtherMemory>);
        self.buffers.move_some(rank, may_move, make);
        self
    }

    /// Fills the buffers anew. No operation may be in flight.
    pub fn fill(&mut self, seed: u64) {
        self.buffers.fill(seed);
    }

    /// Writes the input again, unchanged. No operation may be in flight.
    pub fn rewrite_input(&mut self) {
        self.buffers.rewrite_input();
    }

    pub fn collective(&self) -> Collective {
        self.buffers.collective()
    }

    /// Makes a blocking call.
    pub fn perform(&mut self, communicator: &Communicator) -> Result<(), Error> {
        self.begin(communicator, Form::Blocking)
    }

    /// Returns the calls of a mock-up of this collective, for any communicator of these ranks. Only for calls
    /// that [`crate::shares::call`] made.
    pub fn mock_up(
        &self,
        algorithm: &'static Algorithm,
        communicator: &Communicator,
    ) -> Result<MockUp, TooLong> {
        let counts = self.buffers.images().map(|image| image.count() as usize);
        MockUp::new(algorithm, communicator, counts.max().unwrap_or(0))
    }

    /// Lets a mock-up that was made for this call do its work.
    pub fn perform_by(&mut self, mock_up: &mut MockUp, communicator: &Communicator) -> Result<(), Error> {
        let send = self.buffers.send.as_ref().map_or(std::ptr::null(), Image::address);
        let receive = self.buffers.receive.as_mut().map_or(std::ptr::null_mut(), Image::address_mut);
        // SAFETY: the mock-up was made for these buffers.
        unsafe { mock_up.perform(communicator, Caller { send, receive }, self.operator.as_ref()) }
    }

    /// Calls MPI in this form. Afterwards a non-blocking or persistent operation is in flight.
    pub fn begin(&mut self, communicator: &Communicator, form: Form) -> Result<(), Error> {
        self.prepare(communicator, form)?;
        if form == Form::Persistent { self.start() } else { Ok(()) }
    }

    /// Calls MPI in this form. A persistent operation still needs [`Call::start`].
    pub fn prepare(&mut self, communicator: &Communicator, form: Form) -> Result<(), Error> {
        let (collective, root, in_place) =
            (self.buffers.collective(), self.buffers.root(), self.buffers.is_in_place());
        let invocation = Invocation {
            send: self.buffers.send.as_ref(),
            receive: self.buffers.receive.as_mut(),
            in_place,
            operator: self.operator.as_ref(),
            root,
        };
        // SAFETY: this owns the images and the operator until the operation is complete; see `Drop`.
        unsafe { invocation.call(collective, form, communicator, &mut self.request) }
    }

    /// Starts a persistent operation.
    pub fn start(&mut self) -> Result<(), Error> {
        // SAFETY: the request is persistent and not active.
        check(unsafe { mpi_sys::MPI_Start(&mut self.request) })
    }

    /// Waits for the operation, if one is in flight.
    pub fn wait(&mut self) -> Result<(), Error> {
        // SAFETY: reads a constant; the request is valid or null.
        check(unsafe { mpi_sys::MPI_Wait(&mut self.request, mpi_sys::RSMPI_STATUS_IGNORE) })
    }

    /// Frees the request of a persistent operation, if there is one. The operation must not be in flight.
    pub fn free_request(&mut self) -> Result<(), Error> {
        // SAFETY: the request is null or persistent and not active.
        unsafe {
            match self.request == mpi_sys::RSMPI_REQUEST_NULL {
                true => Ok(()),
                false => check(mpi_sys::MPI_Request_free(&mut self.request)),
            }
        }
    }

    /// Frees the operator and the datatypes. MPI allows this while an operation is in flight.
    pub fn free_handles(&self) {
        if let Some(operator) = &self.operator {
            operator.free();
        }
        let blocks = self.buffers.images().flat_map(Image::elements);
        blocks.for_each(|block| block.datatype.free());
    }

    /// Returns what is wrong in the receive buffer, its gaps or its guards.
    pub fn difference(&self) -> Option<String> {
        self.buffers.difference()
    }

    /// Returns what changed in the send buffer, its gaps or its guards.
    pub fn changed_source(&self) -> Option<String> {
        self.buffers.changed_source()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // After a panic the other ranks do not complete the operation, so MPI may still use the buffers.
        if std::thread::panicking() {
            return std::mem::forget((self.buffers.send.take(), self.buffers.receive.take()));
        }
        // Errors are ignored: nothing can be done about them.
        let _ = self.wait();
        let _ = self.free_request();
    }
}
