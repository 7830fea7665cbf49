//! A communicator's process topology.

use crate::algorithms::{Dimension, Graph, Neighbours};
use crate::mpi::shim::bindings::*;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

/// A topology, as far as a rank knows it.
pub struct Topology {
    /// The rank's neighbours.
    pub graph: Graph,
    /// The grid, if the topology is Cartesian. All ranks know it.
    pub grid: Option<Vec<Dimension>>,
}

impl Topology {
    /// Whether it is Cartesian.
    pub fn is_cartesian(&self) -> bool {
        self.grid.is_some()
    }

    /// Returns the graph with the neighbours of all ranks, if a rank knows them without being told.
    pub fn of_all(&self, rank: usize) -> Option<Graph> {
        let of_all = |grid: &Vec<Dimension>| Graph::grid(grid).without_stencil().known_to(rank, |_| true);
        self.grid.as_ref().map(of_all)
    }
}

/// Reads the topology of a communicator.
///
/// # Safety
/// The handle is that of a communicator with a topology, in which this process has that rank.
pub unsafe fn topology(communicator: *const c_void, rank: usize) -> Topology {
    let mut topology = MaybeUninit::uninit();
    // SAFETY: the shim fills the description in, and its arrays hold as many numbers as it says.
    unsafe {
        rustcoll_shim_topology(communicator, topology.as_mut_ptr());
        let topology: rustcoll_topology = topology.assume_init();
        let grid = (topology.is_grid != 0).then(|| grid(&topology));
        let neighbours = match &grid {
            Some(grid) => Neighbours::on_grid(grid, rank),
            None => Neighbours::listed(
                ranks(topology.sources, topology.indegree),
                ranks(topology.destinations, topology.outdegree),
            ),
        };
        Topology { graph: Graph::of_rank(rank, neighbours), grid }
    }
}

/// # Safety
/// The shim has described a grid.
unsafe fn grid(topology: &rustcoll_topology) -> Vec<Dimension> {
    let &rustcoll_topology { dimensions, lengths, periods, .. } = topology;
    // SAFETY: by this function's contract.
    let (lengths, periods) = unsafe { (numbers(lengths, dimensions), numbers(periods, dimensions)) };
    let dimension =
        |(&length, &period): (&c_int, &c_int)| Dimension { length: length as usize, periodic: period != 0 };
    lengths.iter().zip(periods).map(dimension).collect()
}

/// Returns ranks as MPI lists them; `None` for `MPI_PROC_NULL`, which is negative.
///
/// # Safety
/// As for [`numbers`].
unsafe fn ranks(values: *const c_int, length: usize) -> impl Iterator<Item = Option<usize>> {
    // SAFETY: by this function's contract.
    unsafe { numbers(values, length) }.iter().map(|&rank| usize::try_from(rank).ok())
}

/// # Safety
/// The array holds `length` numbers, and outlives the result.
unsafe fn numbers<'a>(values: *const c_int, length: usize) -> &'a [c_int] {
    // SAFETY: by this function's contract; an empty array may be NULL.
    if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(values, length) } }
}
