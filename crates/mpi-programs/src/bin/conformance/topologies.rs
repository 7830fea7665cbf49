//! The topologies on which neighbourhood collectives are tested: those for which they are verified.

use mpi_programs::topology::Topology;
use rustcoll::verify::{grids, multigraphs};

/// All of a size.
pub fn topologies(size: usize) -> Vec<Topology> {
    let graphs = multigraphs(size).into_iter().flat_map(|graph| {
        let whole = Topology::whole(&graph);
        [Topology::distributed(graph)].into_iter().chain(whole)
    });
    grids(size).into_iter().map(Topology::grid).chain(graphs).collect()
}
