//! Which rank of a node communicates with which ranks of other nodes: the ranks of a node divide the others
//! among themselves.

use super::placement::{Place, Placement};

/// The part of one rank in the messages that leave its node, and in those that arrive for it.
pub struct Shares<'a> {
    pub placement: &'a Placement,
    pub rank: usize,
    pub place: Place,
}

impl<'a> Shares<'a> {
    pub fn new(placement: &'a Placement, rank: usize) -> Self {
        Shares { placement, rank, place: placement.place(rank) }
    }

    /// Returns the ranks of this node, its leader first.
    pub fn members(&self) -> impl ExactSizeIterator<Item = usize> + Clone + use<'a> {
        self.placement.members(self.place.node)
    }

    /// Returns the other ranks of this node, from the next one on.
    pub fn neighbours(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.placement.neighbours(self.place)
    }

    /// Returns the other nodes, the next one first.
    pub fn other_nodes(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (nodes, own) = (self.placement.nodes(), self.place.node);
        (1..nodes).map(move |distance| (own + distance) % nodes)
    }

    /// Returns the ranks of another node that rank number `local` of this node deals with.
    pub fn targets_on(&self, node: usize, local: usize) -> impl Iterator<Item = usize> + use<'a> {
        self.placement.members(node).skip(local).step_by(self.members().len())
    }

    /// Returns the ranks of other nodes that rank number `local` of this node deals with, those of the next node first.
    pub fn targets(&self, local: usize) -> impl Iterator<Item = usize> {
        self.other_nodes().flat_map(move |node| self.targets_on(node, local))
    }

    /// Returns, for each other node, the rank that deals with this rank, and all ranks of that node. The
    /// previous node is first.
    pub fn sources(
        &self,
    ) -> impl Iterator<Item = (usize, impl ExactSizeIterator<Item = usize> + use<'a>)> + use<'a> {
        let (placement, Place { node, local }) = (self.placement, self.place);
        let nodes = placement.nodes();
        let others = (1..nodes).map(move |distance| (node + nodes - distance) % nodes);
        others.map(move |node| {
            let local = local % placement.population(node);
            (placement.member(Place { node, local }), placement.members(node))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Problem;

    #[test]
    fn who_deals_with_a_rank_has_it_among_its_targets_and_nobody_else() {
        let problem = Problem { nodes: [4, 7, 4, 4, 7, 9, 9, 9].into(), ..Problem::new(8) };
        let placement = Placement::of(&problem);
        for rank in 0..8 {
            let shares = Shares::new(&placement, rank);
            let sources: Vec<usize> = shares.sources().map(|(source, _)| source).collect();
            for other in 0..8 {
                let others = Shares::new(&placement, other);
                let deals = others.targets(others.place.local).any(|target| target == rank);
                assert_eq!(deals, sources.contains(&other), "{other} with {rank}");
            }
        }
    }
}
