//! The topologies for tests of neighbourhood collectives: those for which rustcoll verifies them.

use mpi_programs::topology::Topology;
use rustcoll::algorithms::Graph;
use rustcoll::verify::{grids, multigraphs, stencils};

/// Returns all topologies of a size.
pub fn topologies(size: usize) -> Vec<Topology> {
    // The graphs name no stencil: the ranks must find it.
    let stencils = stencils(size).into_iter().map(|stencil| Graph::of_stencil(stencil).without_stencil());
    let graphs = multigraphs(size).into_iter().chain(stencils).flat_map(|graph| {
        let whole = Topology::whole(&graph);
        [Topology::distributed(graph)].into_iter().chain(whole)
    });
    grids(size).into_iter().map(Topology::grid).chain(graphs).collect()
}
