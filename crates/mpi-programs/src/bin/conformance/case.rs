//! One combination of arguments and settings.

use std::fmt;
use std::rc::Rc;

use expected_results::random::combine;
use mpi_programs::call::{Arguments, Call, Elements};
use mpi_programs::communicator::Communicator;
use mpi_programs::component;
use mpi_programs::device;
use mpi_programs::environment::Error;
use mpi_programs::invocation::Form;
use mpi_programs::operator::Arithmetic;
use mpi_programs::preloaded;
use mpi_programs::pretended_nodes;
use mpi_programs::topology::{Kind, Topology};
use rustcoll::algorithms::{Algorithm, Collective, Cut, Parameter, Problem, Requirement, stencil_search};
use rustcoll::engine::SlotBounds;

use crate::shape::{Shape, Sides};

use Collective::*;

/// The arguments of a collective and the algorithm that is to serve it.
#[derive(Clone, Debug)]
pub struct Case {
    pub collective: Collective,
    /// `None` leaves the choice to the component.
    pub algorithm: Option<&'static Algorithm>,
    pub parameters: Vec<(Parameter, i32)>,
    pub form: Form,
    /// Ranks of both groups together, if there are two.
    pub size: usize,
    /// Only neighbourhood collectives use it.
    pub topology: Topology,
    /// Ranks in the second group of an inter-communicator, else 0.
    pub remote: usize,
    pub root: usize,
    pub count: usize,
    /// Returns the length of a block from `count` and the block's number, where MPI lets lengths differ.
    pub length: fn(usize, usize) -> usize,
    pub in_place: bool,
    pub sides: Sides,
    /// Only reductions use it.
    pub arithmetic: Arithmetic,
}

impl Case {
    /// Returns a blocking case with a few ints; a reduction sums them.
    pub fn simple(collective: Collective, algorithm: Option<&'static Algorithm>, size: usize) -> Self {
        Case {
            collective,
            algorithm,
            parameters: Vec::new(),
            form: Form::Blocking,
            size,
            topology: Topology::default(),
            remote: 0,
            root: size - 1,
            count: 2 * size + 1,
            length: drawn,
            in_place: false,
            sides: Sides(Shape::Int, Shape::Int),
            arithmetic: Arithmetic::Sum,
        }
    }

    /// Whether the call may return before any component sees it, or before the component chooses an algorithm: Open MPI
    /// skips empty messages, a broadcast to nobody, and a barrier of one rank.
    pub fn may_be_skipped(&self) -> bool {
        let is_alone = self.size == 1 && matches!(self.collective, Bcast | Barrier);
        let mut pairs = (0..self.size).flat_map(|from| self.ranks().partners(from).map(move |to| (from, to)));
        is_alone || self.collective != Barrier && pairs.all(|(from, to)| self.share(from, to) == 0)
    }

    fn ranks(&self) -> Problem {
        Problem::between(self.size - self.remote, self.remote)
    }

    /// Whether the forced algorithm serves only calls that block: mock-ups call other collectives.
    pub fn must_block(&self) -> bool {
        self.algorithm.is_some_and(Algorithm::is_mock_up)
    }

    /// Whether the forced algorithm cannot serve the call, so rules choose another. Some algorithms do not serve operators
    /// of the user.
    pub fn is_left_to_rules(&self) -> bool {
        let has_own_operator = self.collective.reduces() && !self.arithmetic.is_predefined();
        let needs_predefined =
            self.algorithm.is_some_and(|algorithm| algorithm.requires.contains(&Requirement::Predefined));
        (needs_predefined && has_own_operator) || (self.must_block() && self.form != Form::Blocking)
    }

    /// Whether rules may serve the call instead of the forced algorithm. A communicator's shared memory serves few
    /// persistent collectives, and no rank with more neighbours than slots. Under the preload and on several nodes, it serves
    /// non-blocking calls only after a call in which the ranks learn their nodes. An algorithm for stencils needs one, and a non-blocking call may come before the ranks have found it, or have told the
    /// others of their node their neighbours.
    pub fn may_be_left_to_rules(&self) -> bool {
        if self.algorithm.is_some_and(Algorithm::takes_stencil) {
            let is_listed = matches!(self.topology.kind, Kind::Graph | Kind::Distributed);
            let is_stencil = is_listed && stencil_search::found(&self.topology.graph).is_some();
            return !is_stencil || self.form == Form::Nonblocking;
        }
        let takes = |need: fn(&Algorithm) -> bool| self.algorithm.is_some_and(need);
        let may_not_share = match self.form {
            Form::Blocking => self.topology.graph.most_sent() > SlotBounds::slots(self.size),
            Form::Nonblocking => {
                preloaded::is_loaded()
                    || pretended_nodes::ranks_on_node().is_some_and(|ranks| ranks < self.size)
            }
            Form::Persistent => true,
        };
        let may_not_know = self.form == Form::Nonblocking && takes(Algorithm::takes_neighbours_of_node);
        may_not_know || may_not_share && takes(Algorithm::takes_shared_memory)
    }

    /// Returns the algorithms of which one must run; none if the call must fall back to the component below.
    pub fn serving(&self) -> Vec<&'static Algorithm> {
        let commutes = !self.collective.reduces() || self.arithmetic.commutes();
        let serves = |algorithm: &&Algorithm| algorithm.serves(self.size, self.remote, commutes).is_ok();
        if let Some(forced) = self.algorithm.filter(serves) {
            return vec![forced];
        }
        // Where nothing serves the call below, rules choose.
        let has_below = self.remote == 0 && !component::is_alone();
        if has_below { Vec::new() } else { self.collective.algorithms().filter(serves).collect() }
    }

    /// Returns how many elements go from one rank to another, or are scattered to or gathered from a rank. In
    /// a neighbourhood collective, `to` is the number of a neighbour.
    pub fn share(&self, from: usize, to: usize) -> usize {
        let number = match self.collective {
            Alltoallv | Alltoallw => from.min(to) * self.size + from.max(to),
            NeighborAlltoallv | NeighborAlltoallw => combine(&[from as u64, to as u64]) as usize,
            Allgatherv | Gatherv | NeighborAllgatherv => from,
            ReduceScatter | ReduceScatterBlock if self.remote > 0 => return self.part(to),
            ReduceScatter | Scatterv => to,
            // The two directions have different counts, and one may be empty.
            Allgather | Alltoall if from >= self.ranks().local() => self.size,
            _ => return self.count,
        };
        (self.length)(self.count, number)
    }

    /// Returns how many elements a rank gets of the reduction of the other group. Both groups get the same
    /// total.
    fn part(&self, rank: usize) -> usize {
        let (group, others) = (self.ranks().group(rank), self.ranks().partners(rank));
        // The whole vector has about as many elements as the count says.
        let total = self.count.div_ceil(self.size * self.size) * group.len() * others.len();
        match self.collective {
            ReduceScatter if rank + 1 == group.end => total - total / 2 / group.len() * (group.len() - 1),
            ReduceScatter => total / 2 / group.len(),
            _ => total / group.len(),
        }
    }

    /// Prepares the call. The buffers' contents follow from the seed.
    pub fn prepare(&self, communicator: &Communicator, seed: u64) -> Result<Call, Error> {
        let rank = communicator.number(communicator.rank());
        let arguments = Arguments {
            collective: self.collective,
            send: self.send_blocks(rank)?,
            receive: self.receive_blocks(rank)?,
            arithmetic: self.collective.reduces().then_some(self.arithmetic),
            root: self.root,
            in_place: self.in_place && (self.is_in_place_at_all_ranks() || rank.is_multiple_of(2)),
        };
        let call = Call::new(communicator, &arguments, seed)?;
        // If only the library knows the device, MPI cannot pack from its memory.
        Ok(if device::is_there() { call.move_to_device(rank, !device::is_known_to_mpi()) } else { call })
    }

    /// Whether all ranks are in place in such a call, if one is. Where each rank decides for itself, every second one is if the
    /// count is odd.
    fn is_in_place_at_all_ranks(&self) -> bool {
        let decides_for_itself = !self.collective.is_rooted() && !self.collective.is_in_place_at_all_ranks();
        !decides_for_itself || self.count.is_multiple_of(2)
    }

    fn send_blocks(&self, rank: usize) -> Result<Vec<Elements>, Error> {
        let peers = match self.collective {
            Alltoall | Alltoallv | Alltoallw | Scatter | Scatterv => self.ranks().partners(rank),
            ReduceScatter | ReduceScatterBlock => self.ranks().group(rank),
            // MPI needs a count and a datatype even without a neighbour.
            NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
                0..self.topology.graph.neighbours(rank).outdegree.max(1)
            }
            _ => 0..1,
        };
        self.elements(rank, |shapes| shapes.0, peers.map(|to| (to, self.share(rank, to))))
    }

    fn receive_blocks(&self, rank: usize) -> Result<Vec<Elements>, Error> {
        let side = |shapes: (Shape, Shape)| shapes.1;
        match self.collective {
            Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw | Gather | Gatherv => {
                let partners = self.ranks().partners(rank);
                self.elements(rank, side, partners.map(|from| (from, self.share(from, rank))))
            }
            _ if self.collective.cut() == Cut::Edges => {
                let origins = self.topology.graph.origins(rank);
                let share = |block: usize| {
                    let origin = origins.get(block).copied().flatten();
                    origin.map_or(self.share(rank, block), |edge| self.share(edge.peer, edge.block))
                };
                self.elements(rank, side, (0..origins.len().max(1)).map(|block| (block, share(block))))
            }
            _ => self.elements(rank, side, [(0, self.share(0, rank))]),
        }
    }

    /// Returns the blocks of one side, from pairs (number of a peer or neighbour, count). In an alltoallw
    /// each block has its own datatype; otherwise all have one.
    fn elements(
        &self,
        rank: usize,
        side: impl Fn((Shape, Shape)) -> Shape,
        counts: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Vec<Elements>, Error> {
        if !matches!(self.collective, Alltoallw | NeighborAlltoallw) {
            return self.blocks(side(self.shapes(rank)), counts.into_iter().map(|(_, count)| count));
        }
        let block = |(number, count)| self.blocks(side(self.shapes(rank + number)), [count]);
        Ok(counts.into_iter().map(block).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Returns the shapes of the send and the receive buffer. Even and odd ranks swap the two.
    fn shapes(&self, rank: usize) -> (Shape, Shape) {
        let Sides(even, odd) = self.sides;
        if rank.is_multiple_of(2) { (even, odd) } else { (odd, even) }
    }

    fn blocks(&self, shape: Shape, counts: impl IntoIterator<Item = usize>) -> Result<Vec<Elements>, Error> {
        let values: Vec<usize> = counts.into_iter().map(|count| self.sides.values(count)).collect();
        let datatype = Rc::new(shape.datatype(values[0])?);
        Ok(values.into_iter().map(|values| shape.elements(&datatype, values)).collect())
    }
}

/// Returns a length of 0, 1, about half of the count, or the whole count.
fn drawn(count: usize, number: usize) -> usize {
    match combine(&[count as u64, number as u64]) % 4 {
        _ if count == 0 => 0,
        0 => 0,
        1 => 1,
        2 => count / 2 + 1,
        _ => count,
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{} {}", self.collective.name(), crate::name(self.algorithm))?;
        for (parameter, value) in &self.parameters {
            match value {
                0 => write!(formatter, ", {} {}", parameter.name(), parameter.default_word())?,
                value => write!(formatter, ", {} {value}", parameter.name())?,
            }
        }
        match self.remote {
            0 => write!(formatter, ", {} ranks", self.size)?,
            remote => write!(formatter, ", {} and {remote} ranks", self.ranks().local())?,
        }
        if self.collective.cut() == Cut::Edges {
            write!(formatter, ", {}", self.topology)?;
        }
        if self.collective.is_rooted() {
            write!(formatter, ", root {}", self.root)?;
        }
        write!(formatter, ", count {}, {}", self.count, self.sides)?;
        if self.collective.reduces() {
            write!(formatter, ", {}", self.arithmetic)?;
        }
        if self.in_place {
            formatter.write_str(if self.is_in_place_at_all_ranks() {
                ", in place"
            } else {
                ", in place at even ranks"
            })?;
        }
        match self.form {
            Form::Blocking => Ok(()),
            Form::Nonblocking => formatter.write_str(", non-blocking"),
            Form::Persistent => formatter.write_str(", persistent"),
        }
    }
}
