//! One call of a collective with its buffers and its expected result.

use std::rc::Rc;

use mpi_sys::MPI_Request;
use rustcoll::algorithms::{Algorithm, Collective};

use crate::communicator::Communicator;
use crate::environment::{Error, check};
use crate::expected::Contents;
pub use crate::image::Elements;
use crate::image::{Comparison, Image, Placement};
use crate::invocation::{Form, Invocation};
use crate::mock_up::{Buffers as Caller, MockUp, TooLong};
use crate::operator::Operator;
use crate::random;

use Collective::*;

const SENT: u8 = 0x5a;
const RECEIVED: u8 = 0xc3;

/// What a rank passes to a collective. The buffers are those that the rank would have if it were the root and not in
/// place; on an inter-communicator also those that it would have if the root were in the other group.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// The collective.
    pub collective: Collective,
    /// The blocks of what is sent. A vector is one block; that of a reduce-scatter has a block for each rank of the own
    /// group.
    pub send: Vec<Elements>,
    /// The blocks of what is received.
    pub receive: Vec<Elements>,
    /// The operator of a reduction.
    pub operator: Option<Rc<Operator>>,
    /// The root's number, where there is a root.
    pub root: usize,
    /// Whether there is but one buffer; where there is a root, on the root.
    pub in_place: bool,
}

impl Arguments {
    /// Few blocks and no operator: rank 0 is the root.
    pub fn new(collective: Collective, send: Vec<Elements>, receive: Vec<Elements>) -> Self {
        Arguments { collective, send, receive, operator: None, root: 0, in_place: false }
    }

    fn send_image(&self, has: Buffers) -> Option<Image> {
        let exists = match self.collective {
            Barrier | Bcast => false,
            Scatter | Scatterv => has.of_root,
            _ => has.of_each && !self.is_in_place(has.of_root),
        };
        let placement = match self.collective {
            Alltoallw | NeighborAlltoallw => Placement::ByByte,
            Alltoallv | NeighborAlltoallv | Scatterv => Placement::ByElement,
            _ => Placement::Adjacent,
        };
        exists.then(|| Image::new(&self.send, placement, SENT))
    }

    fn receive_image(&self, has: Buffers) -> Option<Image> {
        let exists = match self.collective {
            Barrier => false,
            Gather | Gatherv | Reduce => has.of_root,
            Scatter | Scatterv => has.of_each && !self.is_in_place(has.of_root),
            _ => true,
        };
        let placement = match self.collective {
            Alltoallw | NeighborAlltoallw => Placement::ByByte,
            Allgatherv | Alltoallv | Gatherv | NeighborAllgatherv | NeighborAlltoallv => Placement::ByElement,
            _ => Placement::Adjacent,
        };
        let blocks = match self.collective {
            // In place, the buffer of the result holds the whole vector.
            ReduceScatter | ReduceScatterBlock if self.in_place => &self.send,
            _ => &self.receive,
        };
        exists.then(|| Image::new(blocks, placement, RECEIVED))
    }

    fn is_in_place(&self, is_root: bool) -> bool {
        self.in_place && (is_root || !self.collective.is_rooted())
    }

    fn contents(&self, communicator: &Communicator) -> Contents {
        let values = |blocks: &[Elements]| blocks.iter().map(Elements::values).sum::<usize>();
        let rank = communicator.rank();
        let is_root = communicator.number(rank) == self.root;
        let part = match self.collective {
            ReduceScatter | ReduceScatterBlock => values(&self.send[..rank])..values(&self.send[..=rank]),
            _ => 0..0,
        };
        Contents {
            collective: self.collective,
            arithmetic: self.operator.as_ref().map(|operator| operator.arithmetic()),
            rank: communicator.number(rank),
            partners: communicator.partners(),
            root: self.root,
            takes_part: !self.collective.is_rooted() || communicator.takes_part(self.root),
            in_place: self.is_in_place(is_root),
            part,
            origins: communicator.topology().graph.origins(rank),
        }
    }
}

/// Which buffers a rank has in a collective with a root: what the root has, and what every rank has.
#[derive(Clone, Copy)]
struct Buffers {
    of_root: bool,
    of_each: bool,
}

impl Buffers {
    /// A rank that takes no part in a call between groups has all, none of which may be touched: Open MPI looks at the
    /// counts, though MPI says that it does not.
    fn of(communicator: &Communicator, root: usize) -> Self {
        let is_root = communicator.number(communicator.rank()) == root;
        let takes_part = communicator.takes_part(root);
        let is_served = communicator.partners().contains(&root);
        Buffers { of_root: is_root || !takes_part, of_each: is_served || !takes_part }
    }
}

/// A collective and its arguments, ready to be called. It owns what MPI uses, and waits for MPI when dropped.
#[derive(Debug)]
pub struct Call {
    contents: Contents,
    seed: u64,
    operator: Option<Rc<Operator>>,
    send: Option<Image>,
    /// What the send buffer holds, unless it is large.
    sent: Option<Vec<u8>>,
    receive: Option<Image>,
    /// What the receive buffer will hold, unless it is large.
    expected: Option<Image>,
    request: MPI_Request,
}

impl Call {
    /// A call whose contents follow from the seed.
    pub fn new(communicator: &Communicator, arguments: &Arguments, seed: u64) -> Self {
        let has = match arguments.collective.is_rooted() {
            true => Buffers::of(communicator, arguments.root),
            false => Buffers { of_root: true, of_each: true },
        };
        let receive = arguments.receive_image(has);
        let mut call = Call {
            contents: arguments.contents(communicator),
            seed,
            operator: arguments.operator.clone(),
            send: arguments.send_image(has),
            sent: None,
            expected: receive.as_ref().filter(|image| !image.is_large()).cloned(),
            receive,
            // SAFETY: reads a constant.
            request: unsafe { mpi_sys::RSMPI_REQUEST_NULL },
        };
        call.fill(seed);
        call
    }

    /// Moves some of the buffers to the device that the job has, others than on other ranks. `only_plain`: none that has gaps.
    pub fn move_to_device(mut self, rank: usize, only_plain: bool) -> Self {
        for (number, image) in [&mut self.send, &mut self.receive].into_iter().enumerate() {
            let is_chosen = !random::combine(&[self.seed, rank as u64, number as u64]).is_multiple_of(3);
            let image = image.as_mut().filter(|image| is_chosen && !image.is_large());
            if let Some(image) = image.filter(|image| image.is_plain() || !only_plain) {
                image.move_to_device();
            }
        }
        self
    }

    /// Fills the buffers anew. No operation may be under way.
    pub fn fill(&mut self, seed: u64) {
        self.seed = seed;
        let contents = &self.contents;
        for image in [&mut self.send, &mut self.receive, &mut self.expected].into_iter().flatten() {
            image.clear();
        }
        match (&mut self.send, &mut self.receive) {
            (Some(send), _) => {
                contents.write_input(send, seed);
                self.sent = (!send.is_large()).then(|| send.bytes().to_vec());
            }
            (None, Some(receive)) if contents.has_input() => {
                contents.write_input(receive, seed);
                if let Some(expected) = &mut self.expected {
                    contents.write_input(expected, seed);
                }
            }
            _ => {}
        }
        if let Some(expected) = &mut self.expected {
            contents.write_result(expected, seed);
        }
    }

    /// Which collective it is.
    pub fn collective(&self) -> Collective {
        self.contents.collective
    }

    /// Calls MPI and waits until the operation is done.
    pub fn perform(&mut self, communicator: &Communicator) -> Result<(), Error> {
        self.begin(communicator, Form::Blocking)
    }

    /// What a mock-up of its collective does instead, on any communicator of these ranks. The call is one that
    /// [`crate::even::call`] makes.
    pub fn mock_up(
        &self,
        algorithm: &'static Algorithm,
        communicator: &Communicator,
    ) -> Result<MockUp, TooLong> {
        let counts = [&self.send, &self.receive].into_iter().flatten().map(|image| image.count() as usize);
        MockUp::new(algorithm, communicator, counts.max().unwrap_or(0))
    }

    /// Has a mock-up that was made for this call do what MPI would be called for.
    pub fn perform_by(&mut self, mock_up: &mut MockUp, communicator: &Communicator) -> Result<(), Error> {
        let send = self.send.as_ref().map_or(std::ptr::null(), Image::address);
        let receive = self.receive.as_mut().map_or(std::ptr::null_mut(), Image::address_mut);
        // SAFETY: the mock-up was made for these buffers.
        unsafe { mock_up.perform(communicator, Caller { send, receive }, self.operator.as_deref()) }
    }

    /// Calls MPI in one of the forms. Unless it blocks, the operation is then under way.
    pub fn begin(&mut self, communicator: &Communicator, form: Form) -> Result<(), Error> {
        self.prepare(communicator, form)?;
        if form == Form::Persistent { self.start() } else { Ok(()) }
    }

    /// Calls MPI in one of the forms. If it is persistent, the operation has yet to be started.
    pub fn prepare(&mut self, communicator: &Communicator, form: Form) -> Result<(), Error> {
        let invocation = Invocation {
            send: self.send.as_ref(),
            receive: self.receive.as_mut(),
            in_place: self.contents.in_place,
            operator: self.operator.as_deref(),
            root: self.contents.root,
        };
        // SAFETY: this owns the images and the operator until the operation is complete; see `Drop`.
        unsafe { invocation.call(self.contents.collective, form, communicator, &mut self.request) }
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

    /// Frees the operator and the datatypes, which MPI allows while an operation is under way.
    pub fn free_handles(&self) {
        if let Some(operator) = &self.operator {
            operator.free();
        }
        [&self.send, &self.receive].into_iter().flatten().for_each(Image::free_datatypes);
    }

    /// What is wrong in the receive buffer, its gaps or its guards.
    pub fn difference(&self) -> Option<String> {
        let receive = self.receive.as_ref()?;
        let Some(expected) = &self.expected else {
            let mut comparison = Comparison::with(receive);
            self.contents.write_result(&mut comparison, self.seed);
            return comparison.difference();
        };
        let unspecified = self.contents.unspecified(receive);
        if unspecified.is_empty() {
            return receive.difference(expected);
        }
        receive.difference(&expected.with_values_of(receive, unspecified))
    }

    /// What was changed in the send buffer, its gaps or its guards.
    pub fn changed_source(&self) -> Option<String> {
        let send = self.send.as_ref()?;
        let Some(sent) = &self.sent else {
            let mut comparison = Comparison::with(send);
            self.contents.write_input(&mut comparison, self.seed);
            return comparison.difference();
        };
        (send.bytes() != sent).then(|| send.overwritten(sent))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // After a panic the other ranks do not come to complete it.
        if std::thread::panicking() {
            return std::mem::forget((self.send.take(), self.receive.take()));
        }
        // Nothing is left to do about an error.
        let _ = self.wait();
        // SAFETY: the request is null or persistent and not active.
        unsafe {
            if self.request != mpi_sys::RSMPI_REQUEST_NULL {
                mpi_sys::MPI_Request_free(&mut self.request);
            }
        }
    }
}
