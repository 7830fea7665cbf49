//! Makes the groups or the neighbours that a shape needs.

use measurements::Shape;
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;
use mpi_programs::topology::Topology;

use crate::cell::SEED;

/// Destinations of each rank in a random graph.
const DEGREE: usize = 8;

/// Returns all ranks in the two groups or with the neighbours of a shape; `None` if the shape needs neither.
pub fn communicator(shape: Shape, control: &Communicator) -> Result<Option<Communicator>, Error> {
    let ranks = control.size();
    let topology = match shape {
        Shape::Even | Shape::Linear | Shape::Sparse => return Ok(None),
        Shape::Inter => return control.parted(ranks / 2).map(Some),
        Shape::Stencil5 => Topology::stencil_5(ranks),
        Shape::Stencil9 => Topology::stencil_9(ranks),
        Shape::Random8 => Topology::random(ranks, DEGREE, SEED),
    };
    control.with_topology(&topology).map(Some)
}
