//! One combination of arguments and settings.

use std::fmt;
use std::rc::Rc;

use mpi_programs::call::{Arguments, Call, Elements};
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use mpi_programs::invocation::Form;
use mpi_programs::operator::{Arithmetic, Operator};
use mpi_programs::random::combine;
use rustcoll::algorithms::{Algorithm, Collective, Parameter, Problem};

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
    /// Of both groups together, if there are two.
    pub size: usize,
    /// Ranks in the second group of an inter-communicator, else 0.
    pub remote: usize,
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
            remote: 0,
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
        let mut pairs = (0..self.size).flat_map(|from| self.ranks().partners(from).map(move |to| (from, to)));
        is_alone || self.collective != Barrier && pairs.all(|(from, to)| self.share(from, to) == 0)
    }

    /// The ranks and their groups.
    fn ranks(&self) -> Problem {
        Problem::between(self.size - self.remote, self.remote)
    }

    /// The algorithm that has to run, or `None` if the call has to go to the component below.
    pub fn serving(&self) -> Option<&'static Algorithm> {
        let commutes = !self.collective.reduces() || self.arithmetic.commutes();
        let serves = |algorithm: &&Algorithm| algorithm.serves(self.size, self.remote, commutes).is_ok();
        let forced = self.algorithm.filter(serves);
        // Whatever is forced for one group, rules decide what runs between two.
        if self.remote > 0 { forced.or(self.collective.algorithms().find(serves)) } else { forced }
    }

    /// How much goes from one rank to another, or is scattered to or gathered from a rank, in elements.
    fn share(&self, from: usize, to: usize) -> usize {
        let rank = match self.collective {
            Alltoallv | Alltoallw => from.min(to) * self.size + from.max(to),
            Allgatherv | Gatherv => from,
            ReduceScatter | ReduceScatterBlock if self.remote > 0 => return self.part(to),
            ReduceScatter | Scatterv => to,
            // The two directions differ, and one may be empty.
            Allgather | Alltoall if from >= self.ranks().local() => self.size,
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

    /// How much of a reduction of the other group a rank gets, in elements: together as many in one group as in the
    /// other.
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

    /// The call with buffers whose contents follow from the seed.
    pub fn prepare(&self, communicator: &Communicator, seed: u64) -> Result<Call, Error> {
        let rank = communicator.number(communicator.rank());
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
            Alltoallw => {
                self.each(rank, |peer| self.blocks(self.shapes(rank + peer).0, [self.share(rank, peer)]))
            }
            Alltoall | Alltoallv | Scatter | Scatterv => {
                self.blocks(shape, self.ranks().partners(rank).map(|peer| self.share(rank, peer)))
            }
            ReduceScatter | ReduceScatterBlock => {
                self.blocks(shape, self.ranks().group(rank).map(|peer| self.share(rank, peer)))
            }
            _ => self.blocks(shape, [self.share(rank, 0)]),
        }
    }

    fn receive_blocks(&self, rank: usize) -> Result<Vec<Elements>, Error> {
        let (_, shape) = self.shapes(rank);
        match self.collective {
            Alltoallw => {
                self.each(rank, |peer| self.blocks(self.shapes(rank + peer).1, [self.share(peer, rank)]))
            }
            Allgather | Allgatherv | Alltoall | Alltoallv | Gather | Gatherv => {
                self.blocks(shape, self.ranks().partners(rank).map(|peer| self.share(peer, rank)))
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

    /// For each partner of a rank the blocks that have a datatype of their own.
    fn each(
        &self,
        rank: usize,
        blocks: impl Fn(usize) -> Result<Vec<Elements>, Error>,
    ) -> Result<Vec<Elements>, Error> {
        Ok(self.ranks().partners(rank).map(blocks).collect::<Result<Vec<_>, _>>()?.concat())
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
