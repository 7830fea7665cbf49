//! One call of a collective with its buffers and its expected result.

use std::rc::Rc;

use expected_results::buffers::{self, Buffers};
use expected_results::storage;
use mpi_sys::MPI_Request;
use rustcoll::algorithms::{Algorithm, Collective};

use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::device::Memory;
use crate::environment::{Error, check};
use crate::image::Image;
use crate::invocation::{Form, Invocation};
use crate::mock_up::{Buffers as Caller, MockUp, TooLong};
use crate::operator::Operator;

/// A number of elements.
pub type Elements = expected_results::image::Elements<Rc<Datatype>>;

/// What a rank passes to a collective.
pub type Arguments = buffers::Arguments<Rc<Datatype>>;

/// A collective and its arguments, ready to be called. It owns what MPI uses, and waits for MPI when dropped.
#[derive(Debug)]
pub struct Call {
    buffers: Buffers<Rc<Datatype>>,
    operator: Option<Operator>,
    request: MPI_Request,
}

impl Call {
    /// A call whose contents follow from the seed, with an operator for the arguments' arithmetic.
    pub fn new(communicator: &Communicator, arguments: &Arguments, seed: u64) -> Result<Self, Error> {
        let graph = &communicator.topology().graph;
        Ok(Call {
            buffers: Buffers::new(arguments, communicator.place(), graph, seed),
            operator: arguments.arithmetic.map(Operator::new).transpose()?,
            // SAFETY: reads a constant.
            request: unsafe { mpi_sys::RSMPI_REQUEST_NULL },
        })
    }

    /// Moves some of the buffers to the device that the job has, others than on other ranks. `only_plain`: none that has gaps.
    pub fn move_to_device(mut self, rank: usize, only_plain: bool) -> Self {
        let may_move = |image: &Image| image.is_plain() || !only_plain;
        let make = |bytes| Memory::new(bytes).map(|memory| Box::new(memory) as Box<dyn storage::Memory>);
        self.buffers.move_some(rank, may_move, make);
        self
    }

    /// Fills the buffers anew. No operation may be under way.
    pub fn fill(&mut self, seed: u64) {
        self.buffers.fill(seed);
    }

    /// Writes the input as it is. No operation may be under way.
    pub fn rewrite_input(&mut self) {
        self.buffers.rewrite_input();
    }

    /// Which collective it is.
    pub fn collective(&self) -> Collective {
        self.buffers.collective()
    }

    /// Calls MPI and waits until the operation is done.
    pub fn perform(&mut self, communicator: &Communicator) -> Result<(), Error> {
        self.begin(communicator, Form::Blocking)
    }

    /// What a mock-up of its collective does instead, on any communicator of these ranks. The call is one that
    /// [`crate::shares::call`] makes.
    pub fn mock_up(
        &self,
        algorithm: &'static Algorithm,
        communicator: &Communicator,
    ) -> Result<MockUp, TooLong> {
        let counts = self.buffers.images().map(|image| image.count() as usize);
        MockUp::new(algorithm, communicator, counts.max().unwrap_or(0))
    }

    /// Has a mock-up that was made for this call do what MPI would be called for.
    pub fn perform_by(&mut self, mock_up: &mut MockUp, communicator: &Communicator) -> Result<(), Error> {
        let send = self.buffers.send.as_ref().map_or(std::ptr::null(), Image::address);
        let receive = self.buffers.receive.as_mut().map_or(std::ptr::null_mut(), Image::address_mut);
        // SAFETY: the mock-up was made for these buffers.
        unsafe { mock_up.perform(communicator, Caller { send, receive }, self.operator.as_ref()) }
    }

    /// Calls MPI in one of the forms. Unless it blocks, the operation is then under way.
    pub fn begin(&mut self, communicator: &Communicator, form: Form) -> Result<(), Error> {
        self.prepare(communicator, form)?;
        if form == Form::Persistent { self.start() } else { Ok(()) }
    }

    /// Calls MPI in one of the forms. If it is persistent, the operation has yet to be started.
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

    /// Waits until the operation is done, if one is under way.
    pub fn wait(&mut self) -> Result<(), Error> {
        // SAFETY: reads a constant; the request is valid or null.
        check(unsafe { mpi_sys::MPI_Wait(&mut self.request, mpi_sys::RSMPI_STATUS_IGNORE) })
    }

    /// Frees the request of a persistent operation that is not under way, if there is one.
    pub fn free_request(&mut self) -> Result<(), Error> {
        // SAFETY: the request is null or persistent and not active.
        unsafe {
            match self.request == mpi_sys::RSMPI_REQUEST_NULL {
                true => Ok(()),
                false => check(mpi_sys::MPI_Request_free(&mut self.request)),
            }
        }
    }

    /// Frees the operator and the datatypes, which MPI allows while an operation is under way.
    pub fn free_handles(&self) {
        if let Some(operator) = &self.operator {
            operator.free();
        }
        let blocks = self.buffers.images().flat_map(Image::elements);
        blocks.for_each(|block| block.datatype.free());
    }

    /// What is wrong in the receive buffer, its gaps or its guards.
    pub fn difference(&self) -> Option<String> {
        self.buffers.difference()
    }

    /// What was changed in the send buffer, its gaps or its guards.
    pub fn changed_source(&self) -> Option<String> {
        self.buffers.changed_source()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // After a panic the other ranks do not come to complete it.
        if std::thread::panicking() {
            return std::mem::forget((self.buffers.send.take(), self.buffers.receive.take()));
        }
        // Nothing is left to do about an error.
        let _ = self.wait();
        let _ = self.free_request();
    }
}
