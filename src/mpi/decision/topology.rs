//! A communicator's process topology.

use crate::algorithms::{Dimension, Graph, Neighbours};
use crate::mpi::shim::bindings::*;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

/// A topology, as far as a rank knows it.
pub struct Topology {
    /// The rank's neighbours.
    pub graph: Graph,
    /// Whether it is Cartesian, which all ranks know.
    pub is_cartesian: bool,
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
        let is_cartesian = topology.is_grid != 0;
        let neighbours = match is_cartesian {
            true => Neighbours::on_grid(&grid(&topology), rank),
            false => Neighbours::listed(
                ranks(topology.sources, topology.indegree),
                ranks(topology.destinations, topology.outdegree),
            ),
        };
        Topology { graph: Graph::of_rank(rank, neighbours), is_cartesian }
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
