//! The binary tree in the order of ranks: one child's subtree holds the ranks just below a rank, the other
//! child's those just above. Every subtree but the whole tree has its root in its middle.

use std::ops::Range;

/// A rank's place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    pub rank: usize,
    /// The rank's parent, unless the rank is the root.
    pub parent: Option<usize>,
    /// The ranks of the rank's subtree, itself included.
    pub subtree: Range<usize>,
}

impl Vertex {
    /// Returns the place of `rank` in the tree of `size` ranks rooted at `root`.
    pub fn new(rank: usize, size: usize, root: usize) -> Vertex {
        let mut vertex = Vertex { rank: root, parent: None, subtree: 0..size };
        while vertex.rank != rank {
            let side = if rank < vertex.rank { vertex.ranks_below() } else { vertex.ranks_above() };
            vertex = Vertex { rank: middle(&side), parent: Some(vertex.rank), subtree: side };
        }
        vertex
    }

    /// Returns the child whose subtree holds the ranks just below.
    pub fn lower_child(&self) -> Option<usize> {
        Some(self.ranks_below()).filter(|ranks| !ranks.is_empty()).map(|ranks| middle(&ranks))
    }

    /// Returns the child whose subtree holds the ranks just above.
    pub fn upper_child(&self) -> Option<usize> {
        Some(self.ranks_above()).filter(|ranks| !ranks.is_empty()).map(|ranks| middle(&ranks))
    }

    /// Returns both children, the lower one first.
    pub fn children(&self) -> impl Iterator<Item = usize> + use<> {
        self.lower_child().into_iter().chain(self.upper_child())
    }

    fn ranks_below(&self) -> Range<usize> {
        self.subtree.start..self.rank
    }

    fn ranks_above(&self) -> Range<usize> {
        self.rank + 1..self.subtree.end
    }
}

/// Returns the rank at which the tree of `ranks` has its root, unless the collective's root is given.
pub fn middle(ranks: &Range<usize>) -> usize {
    ranks.start + ranks.len() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(rank: usize, size: usize, root: usize) -> usize {
        Vertex::new(rank, size, root).parent.map_or(0, |parent| 1 + level(parent, size, root))
    }

    #[test]
    fn children_know_their_parents() {
        for size in 1..40 {
            for root in 0..size {
                for rank in 0..size {
                    let mut children = Vertex::new(rank, size, root).children();
                    assert!(children.all(|child| Vertex::new(child, size, root).parent == Some(rank)));
                }
            }
        }
    }

    #[test]
    fn levels_are_logarithmic() {
        for size in 2..100_usize {
            for root in 0..size {
                let levels = (0..size).map(|rank| level(rank, size, root)).max().unwrap();
                assert!(levels <= 1 + (size - 1).ilog2() as usize, "p = {size}, root {root}");
            }
            let levels = (0..size).map(|rank| level(rank, size, middle(&(0..size)))).max();
            assert_eq!(levels, Some(size.ilog2() as usize), "p = {size}");
        }
    }
}
