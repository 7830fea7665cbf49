//! The buffers of one call with what they hold before and after it.

use std::ops::Range;

use rustcoll::algorithms::{Collective, Graph};

use crate::arithmetic::Arithmetic;
use crate::contents::Contents;
use crate::image::{Comparison, Datatype, Elements, Image, Placement};
use crate::random::combine;
use crate::storage::Memory;

use Collective::*;

const SENT: u8 = 0x5a;
const RECEIVED: u8 = 0xc3;

/// A rank's place in a communicator. The ranks of both groups of an inter-communicator are numbered together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank in its group.
    pub rank: usize,
    /// Number of ranks in the group.
    pub size: usize,
    /// The number of the group's first rank.
    pub first: usize,
    /// The numbers of the ranks of the other group of an inter-communicator.
    pub others: Option<Range<usize>>,
}

impl Place {
    /// That of a rank among the ranks of one group.
    pub fn in_group(rank: usize, size: usize) -> Place {
        Place { rank, size, first: 0, others: None }
    }

    /// This rank's number.
    pub fn number(&self) -> usize {
        self.first + self.rank
    }

    /// The numbers of the ranks with which this one exchanges data: those of the other group, if there is one.
    pub fn partners(&self) -> Range<usize> {
        self.others.clone().unwrap_or(0..self.size)
    }

    /// Whether this rank takes part in a collective with a root. Of an inter-communicator, the root's group does not,
    /// apart from the root.
    pub fn takes_part(&self, root: usize) -> bool {
        self.others.as_ref().is_none_or(|others| others.contains(&root)) || root == self.number()
    }
}

/// What a rank passes to a collective. The buffers are those that the rank would have if it were the root and not in
/// place; on an inter-communicator also those that it would have if the root were in the other group.
#[derive(Clone, Debug)]
pub struct Arguments<D> {
    /// The collective.
    pub collective: Collective,
    /// The blocks of what is sent. A vector is one block; that of a reduce-scatter has a block for each rank of the own
    /// group.
    pub send: Vec<Elements<D>>,
    /// The blocks of what is received.
    pub receive: Vec<Elements<D>>,
    /// What a reduction computes.
    pub arithmetic: Option<Arithmetic>,
    /// The root's number, where there is a root.
    pub root: usize,
    /// Whether there is but one buffer; where there is a root, on the root.
    pub in_place: bool,
}

impl<D: Datatype + Clone> Arguments<D> {
    /// Few blocks and no operator: rank 0 is the root.
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

    fn contents(&self, place: &Place, graph: &Graph) -> Contents {
        let values = |blocks: &[Elements<D>]| blocks.iter().map(Elements::values).sum::<usize>();
        let (rank, is_root) = (place.rank, place.number() == self.root);
        let part = match self.collective {
            ReduceScatter | ReduceScatterBlock => values(&self.send[..rank])..values(&self.send[..=rank]),
            _ => 0..0,
        };
        Contents {
            collective: self.collective,
            arithmetic: self.arithmetic,
            rank: place.number(),
            partners: place.partners(),
            root: self.root,
            takes_part: !self.collective.is_rooted() || place.takes_part(self.root),
            in_place: self.is_in_place(is_root),
            part,
            origins: graph.origins(rank),
        }
    }
}

/// Which buffers a rank has in a collective with a root: what the root has, and what every rank has.
#[derive(Clone, Copy)]
struct Has {
    of_root: bool,
    of_each: bool,
}

impl Has {
    /// A rank that takes no part in a call between groups has all, none of which may be touched: Open MPI looks at the
    /// counts, though MPI says that it does not.
    fn of(place: &Place, root: usize) -> Self {
        let is_root = place.number() == root;
        let takes_part = place.takes_part(root);
        let is_served = place.partners().contains(&root);
        Has { of_root: is_root || !takes_part, of_each: is_served || !takes_part }
    }
}

/// The buffers of a call.
#[derive(Debug)]
pub struct Buffers<D: Datatype> {
    contents: Contents,
    seed: u64,
    /// The input, unless the receive buffer has it.
    pub send: Option<Image<D>>,
    /// What the send buffer holds, unless it is large.
    sent: Option<Vec<u8>>,
    /// Where the result goes.
    pub receive: Option<Image<D>>,
    /// What the receive buffer will hold, unless it is large.
    expected: Option<Image<D>>,
}

impl<D: Datatype + Clone> Buffers<D> {
    /// Those of a rank whose contents follow from the seed.
    pub fn new(arguments: &Arguments<D>, place: &Place, graph: &Graph, seed: u64) -> Self {
        let has = match arguments.collective.is_rooted() {
            true => Has::of(place, arguments.root),
            false => Has { of_root: true, of_each: true },
        };
        let receive = arguments.receive_image(has);
        let mut buffers = Buffers {
            contents: arguments.contents(place, graph),
            seed,
            send: arguments.send_image(has),
            sent: None,
            expected: receive.as_ref().filter(|image| !image.is_large()).cloned(),
            receive,
        };
        buffers.fill(seed);
        buffers
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

    /// Writes the input as it is: then it lies in this process's caches, as what a program has just computed. No operation may be under way.
    pub fn rewrite_input(&mut self) {
        match (&mut self.send, &mut self.receive) {
            (Some(send), _) => send.rewrite(),
            (None, Some(receive)) if self.contents.has_input() => receive.rewrite(),
            _ => {}
        }
    }

    /// Which collective it is.
    pub fn collective(&self) -> Collective {
        self.contents.collective
    }

    /// The root's number, where there is a root.
    pub fn root(&self) -> usize {
        self.contents.root
    }

    /// Whether the call is in place: the receive buffer holds the input.
    pub fn is_in_place(&self) -> bool {
        self.contents.in_place
    }

    /// The buffers that there are.
    pub fn images(&self) -> impl Iterator<Item = &Image<D>> {
        [&self.send, &self.receive].into_iter().flatten()
    }

    /// Moves some of the buffers that are not large to memory of another kind, others than on other ranks. `may_move`: which of them may be.
    pub fn move_some(
        &mut self,
        rank: usize,
        may_move: impl Fn(&Image<D>) -> bool,
        make: impl Fn(usize) -> Option<Box<dyn Memory>>,
    ) {
        for (number, image) in [&mut self.send, &mut self.receive].into_iter().enumerate() {
            let is_chosen = !combine(&[self.seed, rank as u64, number as u64]).is_multiple_of(3);
            let image = image.as_mut().filter(|image| is_chosen && !image.is_large());
            if let Some(image) = image.filter(|image| may_move(image)) {
                image.move_to(&make);
            }
        }
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
