//! Which rank of a node stands for it in what goes to a rank elsewhere: the ranks of a node share the others out.

use super::placement::{Place, Placement};

/// The shares of one rank of a node, in what leaves it and in what arrives for this rank.
pub struct Shares<'a> {
    /// Who is where.
    pub placement: &'a Placement,
    /// The rank.
    pub rank: usize,
    /// Where it is.
    pub place: Place,
}

impl<'a> Shares<'a> {
    /// Those of a rank.
    pub fn new(placement: &'a Placement, rank: usize) -> Self {
        Shares { placement, rank, place: placement.place(rank) }
    }

    /// The ranks of its node, its leader first.
    pub fn members(&self) -> impl ExactSizeIterator<Item = usize> + Clone + use<'a> {
        self.placement.members(self.place.node)
    }

    /// The other ranks of its node, from the next one on.
    pub fn neighbours(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.placement.neighbours(self.place)
    }

    /// The ranks of other nodes that a rank of this one deals with, those of the next node first.
    pub fn targets(&self, local: usize) -> impl Iterator<Item = usize> + use<'a> {
        let (placement, node, population) = (self.placement, self.place.node, self.members().len());
        let nodes = (1..placement.nodes()).map(move |distance| (node + distance) % placement.nodes());
        nodes.flat_map(move |node| placement.members(node).skip(local).step_by(population))
    }

    /// Who deals with this rank on each other node, the one before first, and the ranks of that node.
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
