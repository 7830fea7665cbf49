//! One combination of arguments and settings.

use std::fmt;
use std::rc::Rc;

use mpi_programs::call::Call;
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use mpi_programs::operator::{Arithmetic, Operator};
use rustcoll::algorithms::{Algorithm, Collective, Parameter};

use crate::shape::{Shape, Sides};

/// The arguments of a collective and the algorithm that is to serve it.
#[derive(Clone, Debug)]
pub struct Case {
    pub collective: Collective,
    /// `None` leaves the choice to the component.
    pub algorithm: Option<&'static Algorithm>,
    pub parameters: Vec<(Parameter, i32)>,
    pub size: usize,
    pub root: usize,
    pub count: usize,
    pub in_place: bool,
    pub sides: Sides,
    /// Only a reduction looks at it.
    pub arithmetic: Arithmetic,
}

/// A property of which every value is to be tested at least once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    Parameters(Vec<(&'static str, i32)>),
    Root(usize),
    Count(usize),
    InPlace(bool),
    Sides(Sides),
    Arithmetic(String),
}

impl Case {
    /// Few ints, summed in a reduction.
    pub fn simple(collective: Collective, algorithm: Option<&'static Algorithm>, size: usize) -> Self {
        Case {
            collective,
            algorithm,
            parameters: Vec::new(),
            size,
            root: size - 1,
            count: 2 * size + 1,
            in_place: false,
            sides: Sides(Shape::Int, Shape::Int),
            arithmetic: Arithmetic::Sum,
        }
    }

    /// What it tests.
    pub fn features(&self) -> [Feature; 6] {
        let parameters = self.parameters.iter().map(|(parameter, value)| (parameter.name(), *value));
        [
            Feature::Parameters(parameters.collect()),
            Feature::Root(self.root),
            Feature::Count(self.count),
            Feature::InPlace(self.in_place),
            Feature::Sides(self.sides),
            Feature::Arithmetic(self.arithmetic.to_string()),
        ]
    }

    /// Whether the call may return before any component sees it: Open MPI skips empty messages, and a broadcast to
    /// nobody.
    pub fn may_be_skipped(&self) -> bool {
        self.count == 0 || self.collective == Collective::Bcast && self.size == 1
    }

    /// The algorithm that has to run, or `None` if the call has to go to the component below.
    pub fn serving(&self) -> Option<&'static Algorithm> {
        let commutes = !self.collective.reduces() || self.arithmetic.commutes();
        self.algorithm.filter(|algorithm| algorithm.serves(commutes).is_ok())
    }

    /// The call with buffers whose contents follow from the seed.
    pub fn prepare(&self, communicator: &Communicator, seed: u64) -> Result<Call, Error> {
        let values = self.sides.values(self.count);
        let rank = communicator.rank();
        Ok(match self.collective {
            Collective::Allreduce => {
                let operator = Rc::new(Operator::new(self.arithmetic)?);
                let elements = self.sides.0.elements(values)?;
                Call::allreduce(communicator, &elements, &operator, self.in_place, seed)
            }
            Collective::Alltoall => {
                // Ranks may also differ from each other.
                let Sides(even, odd) = self.sides;
                let (send, receive) = if rank.is_multiple_of(2) { (even, odd) } else { (odd, even) };
                let (send, receive) = (send.elements(values)?, receive.elements(values)?);
                Call::alltoall(communicator, &send, &receive, self.in_place, seed)
            }
            Collective::Bcast => {
                let Sides(even, odd) = self.sides;
                let distance = (rank + self.size - self.root) % self.size;
                let shape = if distance.is_multiple_of(2) { even } else { odd };
                Call::bcast(communicator, &shape.elements(values)?, self.root, seed)
            }
        })
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
        Ok(())
    }
}
