//! How long blocks are, who the neighbours are, and whether there are two groups.

use rustcoll::algorithms::{Collective, Cut};
use rustcoll::selection::nearest;

use Collective::*;

/// What a call looks like to the ranks that make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Every rank of one group has the same share.
    Even,
    /// Block i of p has i + 1 parts of p (p + 1) / 2.
    Linear,
    /// Nine of ten blocks are empty.
    Sparse,
    /// Between the first half of the ranks and the second, on an inter-communicator.
    Inter,
    /// Each rank has the four neighbours of a two-dimensional grid.
    Stencil5,
    /// Each rank has these and the four that touch its corners.
    Stencil9,
    /// Each rank sends to eight others, drawn by chance and always the same.
    Random8,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 7] = [
        Shape::Even,
        Shape::Linear,
        Shape::Sparse,
        Shape::Inter,
        Shape::Stencil5,
        Shape::Stencil9,
        Shape::Random8,
    ];

    /// What follows `@`.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Even => "even",
            Shape::Linear => "linear",
            Shape::Sparse => "sparse",
            Shape::Inter => "inter",
            Shape::Stencil5 => "stencil_5",
            Shape::Stencil9 => "stencil_9",
            Shape::Random8 => "random_8",
        }
    }

    /// The shape that follows `@`; the even one has no name there.
    pub(crate) fn named(name: &str) -> Option<Shape> {
        Self::ALL.into_iter().skip(1).find(|shape| shape.name() == name)
    }

    /// The shape of this name, the even one too.
    pub fn parse(name: &str) -> Result<Shape, String> {
        let known = Self::ALL.into_iter().find(|shape| shape.name() == name);
        known.ok_or_else(|| nearest::unknown("shape", name, Self::ALL.map(Shape::name)))
    }

    /// Whether a collective has a meaning with it.
    pub fn suits(self, collective: Collective) -> bool {
        let has_neighbours = collective.cut() == Cut::Edges;
        match self {
            Shape::Even => !has_neighbours,
            Shape::Linear | Shape::Sparse => {
                matches!(collective, Allgatherv | Alltoallv | Alltoallw | Gatherv | ReduceScatter | Scatterv)
            }
            Shape::Inter => !has_neighbours && !matches!(collective, Exscan | Scan),
            Shape::Stencil5 | Shape::Stencil9 | Shape::Random8 => has_neighbours,
        }
    }
}
