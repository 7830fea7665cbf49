//! The buffers of one call, with their contents before and after it.

use std::ops::Range;

use rustcoll::algorithms::{Collective, Graph};

use crate::arithmetic::Arithmetic;
use crate::contents::Contents;
use crate::image::{Comparison, Datatype, Elements, Image, Placement};
use crate::random::combine;
use crate::storage::OtherMemory;

use Collective::*;

const SENT: u8 = 0x5a;
const RECEIVED: u8 = 0xc3;

/// A rank's place in a communicator. The ranks of both groups of an inter-communicator are numbered together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The rank within its group.
    pub rank: usize,
    pub size: usize,
    /// The number of the group's first rank.
    pub first: usize,
    /// The numbers of the ranks of the other group of an inter-communicator.
    pub others: Option<Range<usize>>,
}

impl Membership {
    /// The place of a rank in an intra-communicator of `size` ranks.
    pub fn in_group(rank: usize, size: usize) -> Membership {
        Membership { rank, size, first: 0, others: None }
    }

    /// This rank's number among the ranks of both groups.
    pub fn number(&self) -> usize {
        self.first + self.rank
    }

    /// Returns the numbers of the ranks with which this one exchanges data: the other group's, if there is one.
    pub fn partners(&self) -> Range<usize> {
        self.others.clone().unwrap_or(0..self.size)
    }

    /// Whether this rank takes part in a collective with a root. On an inter-communicator, the root is the
    /// only rank of its group that takes part.
    pub fn takes_part(&self, root: usize) -> bool {
        self.others.as_ref().is_none_or(|others| others.contains(&root)) || root == self.number()
    }
}

/// What a rank passes to a collective. It describes all buffers that the rank could need: those of a root
/// that is not in place and, on an inter-communicator, also those for a root in the other group.
#[derive(Clone, Debug)]
pub struct Arguments<D> {
    pub collective: Collective,
    /// The blocks of the send buffer. A vector is one block. The vector of a reduce-scatter has one block for
    /// each rank of this rank's group.
    pub send: Vec<Elements<D>>,
    /// The blocks of the receive buffer.
    pub receive: Vec<Elements<D>>,
    pub arithmetic: Option<Arithmetic>,
    /// The root's number, if the collective has a root.
    pub root: usize,
    /// Whether the rank uses one buffer for input and result. In a collective with a root, only the root does so.
    pub in_place: bool,
}

impl<D: Datatype + Clone> Arguments<D> {
    /// Arguments without an operator, not in place, with rank 0 as the root.
    pub fn new(collective: Collective, send: Vec<Elements<D>>, receive: Vec<Elements<D>>) -> Self {
        Arguments { collective, send, receive, arithmetic: None, root: 0, in_place: false }
    }

    fn send_image(&self, has: Has) -> Option<Image<D>> {
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

    fn receive_image(&self, has: Has) -> Option<Image<D>> {
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

    fn contents(&self, membership: &Membership, graph: &Graph) -> Contents {
        let values = |blocks: &[Elements<D>]| blocks.iter().map(Elements::values).sum::<usize>();
        let (rank, is_root) = (membership.rank, membership.number() == self.root);
        let part = match self.collective {
            ReduceScatter | ReduceScatterBlock => values(&self.send[..rank])..values(&self.send[..=rank]),
            _ => 0..0,
        };
        Contents {
            collective: self.collective,
            arithmetic: self.arithmetic,
            rank: membership.number(),
            partners: membership.partners(),
            root: self.root,
            takes_part: !self.collective.is_rooted() || membership.takes_part(self.root),
            in_place: self.is_in_place(is_root),
            part,
            origins: graph.origins(rank),
        }
    }
}

/// Which buffers a rank has in a collective with a root: the root's buffers, and those that every rank has.
#[derive(Clone, Copy)]
struct Has {
    of_root: bool,
    of_each: bool,
}

impl Has {
    /// A rank that takes no part in a call on an inter-communicator has all buffers, and the call must not
    /// touch them. Open MPI looks at their counts, although MPI says that it does not.
    fn of(membership: &Membership, root: usize) -> Self {
        let is_root = membership.number() == root;
        let takes_part = membership.takes_part(root);
        let is_served = membership.partners().contains(&root);
        Has { of_root: is_root || !takes_part, of_each: is_served || !takes_part }
    }
}

/// The buffers of a call.
#[derive(Debug)]
pub struct Buffers<D: Datatype> {
    contents: Contents,
    seed: u64,
    /// The send buffer, unless the receive buffer holds the input.
    pub send: Option<Image<D>>,
    /// The bytes of the send buffer before the call, unless it is large.
    sent: Option<Vec<u8>>,
    /// The buffer for the result.
    pub receive: Option<Image<D>>,
    /// The expected receive buffer after the call, unless it is large.
    expected: Option<Image<D>>,
}

impl<D: Datatype + Clone> Buffers<D> {
    /// Makes the buffers of one rank. The seed determines their contents.
    pub fn new(arguments: &Arguments<D>, membership: &Membership, graph: &Graph, seed: u64) -> Self {
        let has = match arguments.collective.is_rooted() {
            true => Has::of(membership, arguments.root),
            false => Has { of_root: true, of_each: true },
        };
        let receive = arguments.receive_image(has);
        let mut buffers = Buffers {
            contents: arguments.contents(membership, graph),
            seed,
            send: arguments.send_image(has),
            sent: None,
            expected: receive.as_ref().filter(|image| !image.is_large()).cloned(),
            receive,
        };
        buffers.fill(seed);
        buffers
    }

    /// Fills the buffers again, for a new call. No operation on them may be in flight.
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

    /// Writes the input over itself. The input is then in this process's caches, as if a program had just
    /// computed it. No operation on the buffers may be in flight.
    pub fn rewrite_input(&mut self) {
        match (&mut self.send, &mut self.receive) {
            (Some(send), _) => send.rewrite(),
            (None, Some(receive)) if self.contents.has_input() => receive.rewrite(),
            _ => {}
        }
    }

    pub fn collective(&self) -> Collective {
        self.contents.collective
    }

    /// The root's number, if the collective has a root.
    pub fn root(&self) -> usize {
        self.contents.root
    }

    /// Whether the call is in place: the receive buffer holds the input.
    pub fn is_in_place(&self) -> bool {
        self.contents.in_place
    }

    /// Returns this rank's buffers.
    pub fn images(&self) -> impl Iterator<Item = &Image<D>> {
        [&self.send, &self.receive].into_iter().flatten()
    }

    /// Moves some of the buffers to memory that `make` returns. Large buffers and those that `may_move`
    /// rejects stay. The seed and the rank decide, so that ranks move different buffers.
    pub fn move_some(
        &mut self,
        rank: usize,
        may_move: impl Fn(&Image<D>) -> bool,
        make: impl Fn(usize) -> Option<Box<dyn OtherMemory>>,
    ) {
        for (number, image) in [&mut self.send, &mut self.receive].into_iter().enumerate() {
            let is_chosen = !combine(&[self.seed, rank as u64, number as u64]).is_multiple_of(3);
            let image = image.as_mut().filter(|image| is_chosen && !image.is_large());
            if let Some(image) = image.filter(|image| may_move(image)) {
                image.move_to(&make);
            }
        }
    }

    /// Describes the first error in the receive buffer, its gaps or its guards.
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

    /// Describes what the call changed in the send buffer, its gaps or its guards.
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
