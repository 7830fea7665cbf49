//! One combination of arguments and settings.

use std::fmt;
use std::rc::Rc;

use mpi_programs::call::{Arguments, Call, Elements};
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use mpi_programs::invocation::Form;
use mpi_programs::operator::{Arithmetic, Operator};
use mpi_programs::random::combine;
use rustcoll::algorithms::{Algorithm, Collective, Parameter};

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
    pub size: usize,
    pub root: usize,
    pub count: usize,
    pub in_place: bool,
    pub sides: Sides,
    /// Only a reduction looks at it.
    pub arithmetic: Arithmetic,
}

impl Case {
    /// Few ints, summed in a reduction.
    pub fn simple(collective: Collective, algorithm: Option<&'static Algorithm>, size: usize) -> Self {
        Case {
            collective,
            algorithm,
            parameters: Vec::new(),
            form: Form::Blocking,
            size,
            root: size - 1,
            count: 2 * size + 1,
            in_place: false,
            sides: Sides(Shape::Int, Shape::Int),
            arithmetic: Arithmetic::Sum,
        }
    }

    /// Whether the call may return before any component sees it, or before the component chooses an algorithm: Open MPI
    /// skips empty messages, a broadcast to nobody, and a barrier of one rank.
    pub fn may_be_skipped(&self) -> bool {
        let is_alone = self.size == 1 && matches!(self.collective, Bcast | Barrier);
        let pairs = || (0..self.size).flat_map(|from| (0..self.size).map(move |to| (from, to)));
        is_alone || self.collective != Barrier && pairs().all(|(from, to)| self.share(from, to) == 0)
    }

    /// The algorithm that has to run, or `None` if the call has to go to the component below.
    pub fn serving(&self) -> Option<&'static Algorithm> {
        let commutes = !self.collective.reduces() || self.arithmetic.commutes();
        self.algorithm.filter(|algorithm| algorithm.serves(self.size, commutes).is_ok())
    }

    /// How much goes from one rank to another, or is scattered to or gathered from a rank, in elements.
    fn share(&self, from: usize, to: usize) -> usize {
        let rank = match self.collective {
            Alltoallv | Alltoallw => from.min(to) * self.size + from.max(to),
            Allgatherv | Gatherv => from,
            ReduceScatter | Scatterv => to,
            _ => return self.count,
        };
        match combine(&[self.count as u64, rank as u64]) % 4 {
            _ if self.count == 0 => 0,
            0 => 0,
            1 => 1,
            2 => self.count / 2 + 1,
            _ => self.count,
        }
    }

    /// The call with buffers whose contents follow from the seed.
    pub fn prepare(&self, communicator: &Communicator, seed: u64) -> Result<Call, Error> {
        let rank = communicator.rank();
        let operator = || Operator::new(self.arithmetic).map(Rc::new);
        let arguments = Arguments {
            collective: self.collective,
            send: self.send_blocks(rank)?,
            receive: self.receive_blocks(rank)?,
            operator: self.collective.reduces().then(operator).transpose()?,
            root: self.root,
            in_place: self.in_place,
        };
        Ok(Call::new(communicator, &arguments, seed))
    }

    fn send_blocks(&self, rank: usize) -> Result<Vec<Elements>, Error> {
        let (shape, _) = self.shapes(rank);
        match self.collective {
            Alltoallw => self.each(|peer| self.blocks(self.shapes(rank + peer).0, [self.share(rank, peer)])),
            Alltoall | Alltoallv | ReduceScatter | ReduceScatterBlock | Scatter | Scatterv => {
                self.blocks(shape, (0..self.size).map(|peer| self.share(rank, peer)))
            }
            _ => self.blocks(shape, [self.share(rank, 0)]),
        }
    }

    fn receive_blocks(&self, rank: usize) -> Result<Vec<Elements>, Error> {
        let (_, shape) = self.shapes(rank);
        match self.collective {
            Alltoallw => self.each(|peer| self.blocks(self.shapes(rank + peer).1, [self.share(peer, rank)])),
            Allgather | Allgatherv | Alltoall | Alltoallv | Gather | Gatherv => {
                self.blocks(shape, (0..self.size).map(|peer| self.share(peer, rank)))
            }
            _ => self.blocks(shape, [self.share(0, rank)]),
        }
    }

    /// The shapes of what is sent and what is received. Ranks, too, may differ from each other.
    fn shapes(&self, rank: usize) -> (Shape, Shape) {
        let Sides(even, odd) = self.sides;
        if rank.is_multiple_of(2) { (even, odd) } else { (odd, even) }
    }

    /// Blocks with one datatype.
    fn blocks(&self, shape: Shape, counts: impl IntoIterator<Item = usize>) -> Result<Vec<Elements>, Error> {
        let values: Vec<usize> = counts.into_iter().map(|count| self.sides.values(count)).collect();
        let datatype = Rc::new(shape.datatype(values[0])?);
        Ok(values.into_iter().map(|values| shape.elements(&datatype, values)).collect())
    }

    /// For each rank the blocks that have a datatype of their own.
    fn each(&self, blocks: impl Fn(usize) -> Result<Vec<Elements>, Error>) -> Result<Vec<Elements>, Error> {
        Ok((0..self.size).map(blocks).collect::<Result<Vec<_>, _>>()?.concat())
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
        write!(formatter, ", {} ranks", self.size)?;
        if self.collective.is_rooted() {
            write!(formatter, ", root {}", self.root)?;
        }
        write!(formatter, ", count {}, {}", self.count, self.sides)?;
        if self.collective.reduces() {
            write!(formatter, ", {}", self.arithmetic)?;
        }
        if self.in_place {
            formatter.write_str(", in place")?;
        }
        match self.form {
            Form::Blocking => Ok(()),
            Form::Nonblocking => formatter.write_str(", non-blocking"),
            Form::Persistent => formatter.write_str(", persistent"),
        }
    }
}
