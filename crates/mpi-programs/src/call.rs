//! One call of a collective with its buffers and its expected result.

use std::rc::Rc;

use rustcoll::algorithms::Collective;

use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::environment::Error;
use crate::expected;
use crate::image::Image;
use crate::operator::Operator;

const SENT: u8 = 0x5a;
const RECEIVED: u8 = 0xc3;

/// A number of elements.
#[derive(Clone, Debug)]
pub struct Elements {
    /// Of this type.
    pub datatype: Rc<Datatype>,
    /// So many.
    pub count: usize,
}

impl Elements {
    fn image(&self, blocks: usize, pattern: u8) -> Image {
        Image::new(&self.datatype, self.count * blocks, pattern)
    }
}

/// A collective and its arguments, ready to be called.
#[derive(Debug)]
pub struct Call {
    kind: Kind,
    send: Option<Image>,
    sent: Vec<u8>,
    receive: Image,
    expected: Image,
}

#[derive(Debug)]
enum Kind {
    Allreduce(Rc<Operator>),
    Alltoall,
    Bcast { root: usize },
}

impl Call {
    /// An allreduce with operands that follow from the seed.
    pub fn allreduce(
        communicator: &Communicator,
        elements: &Elements,
        operator: &Rc<Operator>,
        in_place: bool,
        seed: u64,
    ) -> Self {
        let arithmetic = operator.arithmetic();
        let mut expected = elements.image(1, RECEIVED);
        expected::write_reduction(&mut expected, arithmetic, seed, communicator.size());
        let fill = |image: &mut Image| {
            expected::write_operands(image, arithmetic, seed, communicator.rank());
        };
        Self::new(Kind::Allreduce(operator.clone()), expected, elements, elements, 1, in_place, fill)
    }

    /// An all-to-all of one block of elements for each rank, with contents that follow from the seed. What is sent and
    /// what is received must have equal signatures.
    pub fn alltoall(
        communicator: &Communicator,
        send: &Elements,
        receive: &Elements,
        in_place: bool,
        seed: u64,
    ) -> Self {
        let (rank, size) = (communicator.rank(), communicator.size());
        let mut expected = receive.image(size, RECEIVED);
        expected::write_incoming_blocks(&mut expected, seed, rank, size);
        let fill = |image: &mut Image| expected::write_outgoing_blocks(image, seed, rank, size);
        Self::new(Kind::Alltoall, expected, send, receive, size, in_place, fill)
    }

    /// A broadcast of a message that follows from the seed.
    pub fn bcast(communicator: &Communicator, elements: &Elements, root: usize, seed: u64) -> Self {
        let mut expected = elements.image(1, RECEIVED);
        expected::write_message(&mut expected, seed, root);
        let fill = |image: &mut Image| {
            if communicator.rank() == root {
                expected::write_message(image, seed, root);
            }
        };
        Self::new(Kind::Bcast { root }, expected, elements, elements, 1, true, fill)
    }

    fn new(
        kind: Kind,
        expected: Image,
        send: &Elements,
        receive: &Elements,
        blocks: usize,
        in_place: bool,
        fill: impl Fn(&mut Image),
    ) -> Self {
        let mut receive = receive.image(blocks, RECEIVED);
        let mut send = (!in_place).then(|| send.image(blocks, SENT));
        fill(send.as_mut().unwrap_or(&mut receive));
        let sent = send.as_ref().map_or(Vec::new(), |send| send.bytes().to_vec());
        Call { kind, send, sent, receive, expected }
    }

    /// Which collective it is.
    pub fn collective(&self) -> Collective {
        match self.kind {
            Kind::Allreduce(_) => Collective::Allreduce,
            Kind::Alltoall => Collective::Alltoall,
            Kind::Bcast { .. } => Collective::Bcast,
        }
    }

    /// Calls MPI.
    pub fn perform(&mut self, communicator: &Communicator) -> Result<(), Error> {
        match &self.kind {
            Kind::Allreduce(operator) => {
                communicator.allreduce(self.send.as_ref(), &mut self.receive, operator)
            }
            Kind::Alltoall => communicator.alltoall(self.send.as_ref(), &mut self.receive),
            Kind::Bcast { root } => communicator.bcast(&mut self.receive, *root),
        }
    }

    /// What is wrong in the receive buffer, its gaps or its guards.
    pub fn difference(&self) -> Option<String> {
        self.receive.difference(&self.expected)
    }

    /// What was changed in the send buffer, its gaps or its guards.
    pub fn changed_source(&self) -> Option<String> {
        let send = self.send.as_ref().filter(|send| send.bytes() != self.sent)?;
        Some(send.overwritten(&self.sent))
    }
}
