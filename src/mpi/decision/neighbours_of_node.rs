//! How the ranks of a node tell each other their neighbours. MPI tells each rank only its own.

use crate::algorithms::{Edge, Graph, Neighbours, Nodes};
use crate::mpi::messages::transport::Error;
use crate::mpi::shared_memory::sharing::Teller;

/// Returns the graph in which this rank knows the neighbours of all ranks of its node. All ranks of the node call this.
pub fn told(teller: &Teller, nodes: &Nodes, own: &Neighbours) -> Result<Graph, Error> {
    let rank = teller.name.group.rank;
    let members: Vec<usize> = nodes.members(nodes.place(rank).node).collect();
    let told = teller.gathered_on_node(&members, numbers(own))?;
    let known = members.iter().zip(told).map(|(&member, numbers)| {
        let neighbours = if member == rank { own.clone() } else { neighbours(&numbers) };
        (member, neighbours)
    });
    Ok(Graph::of_ranks(known))
}

/// The number of sources, the sources and the destinations, as ranks.
fn numbers(neighbours: &Neighbours) -> Vec<u64> {
    let Neighbours { sources, destinations, .. } = neighbours;
    let peers = |edges: &[Edge]| edges.iter().map(|edge| edge.peer as u64).collect::<Vec<_>>();
    [vec![sources.len() as u64], peers(sources), peers(destinations)].concat()
}

fn neighbours(numbers: &[u64]) -> Neighbours {
    let (sources, peers) = numbers.split_first().expect("a rank tells how many sources it has");
    let (sources, destinations) = peers.split_at(*sources as usize);
    let peers = |numbers: &[u64]| numbers.iter().map(|&peer| Some(peer as usize)).collect::<Vec<_>>();
    Neighbours::listed(peers(sources), peers(destinations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_survive_being_told() {
        let own = Neighbours::listed([Some(3), None, Some(3), Some(1)], [None, Some(2)]);
        assert_eq!(neighbours(&numbers(&own)), own.in_order());
        let nobody = Neighbours::default();
        assert_eq!(neighbours(&numbers(&nobody)), nobody);
    }
}
