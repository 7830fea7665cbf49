//! How the ranks of a communicator find out that their neighbours are at the same offsets of a grid. MPI does not say
//! so, and each rank knows only its own neighbours.

use crate::algorithms::stencil_search::{candidates, elected, may_gain, vote};
use crate::algorithms::{Neighbours, Stencil};
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::Group;
use crate::mpi::shared_memory::sharing::Teller;

/// Returns the common stencil of all ranks, if they can gain by one; the same at all ranks. Candidates come from the
/// neighbours of a rank that has the most: it is away from borders if any rank is. Each rank votes for those that fit.
pub fn agree(teller: &Teller, neighbours: &Neighbours) -> Result<Option<Stencil>, Error> {
    let Group { rank, size, .. } = teller.name.group;
    let own: Vec<u64> = neighbours.destinations.iter().map(|edge| edge.peer as u64).collect();
    let degrees = teller.gathered([own.len() as u64])?.concat();
    let most = degrees.iter().copied().max().unwrap_or(0);
    if !may_gain(most as usize) {
        return Ok(None);
    }
    let first = degrees.iter().position(|degree| *degree == most).unwrap_or(0);
    let numbers = if rank == first { own } else { vec![0; most as usize] };
    let destinations: Vec<usize> =
        teller.broadcast(numbers, first)?.into_iter().map(|peer| peer as usize).collect();
    let found = candidates(size, first, &destinations);
    if found.is_empty() {
        return Ok(None);
    }
    let votes = teller.gathered([vote(&found, |stencil| stencil.fits(rank, neighbours))])?.concat();
    Ok(elected(found, votes))
}
