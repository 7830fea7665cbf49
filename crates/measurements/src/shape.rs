//! Shapes of a call: lengths of blocks, neighbours, and one or two groups.

use rustcoll::algorithms::{Collective, Cut};
use rustcoll::selection::nearest;

use Collective::*;

/// The lengths of a call's blocks, or the neighbours or groups of its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Every rank has the same share, on an intra-communicator.
    Even,
    /// Block i of p has i + 1 of p (p + 1) / 2 equal parts.
    Linear,
    /// Nine of ten blocks are empty.
    Sparse,
    /// On an inter-communicator, between the first half of the ranks and the second half.
    Inter,
    /// Each rank has the four neighbours of a two-dimensional grid.
    Stencil5,
    /// Each rank has those four neighbours and the four at its corners.
    Stencil9,
    /// Each rank sends to eight random other ranks, the same in every run.
    Random8,
}

impl Shape {
    pub const ALL: [Shape; 7] = [
        Shape::Even,
        Shape::Linear,
        Shape::Sparse,
        Shape::Inter,
        Shape::Stencil5,
        Shape::Stencil9,
        Shape::Random8,
    ];

    /// Returns the name behind `@`.
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

    /// Returns the shape with this name behind `@`. [`Shape::Even`] has no name there.
    pub(crate) fn named(name: &str) -> Option<Shape> {
        Self::ALL.into_iter().skip(1).find(|shape| shape.name() == name)
    }

    /// Returns the shape with this name, [`Shape::Even`] included.
    pub fn parse(name: &str) -> Result<Shape, String> {
        let known = Self::ALL.into_iter().find(|shape| shape.name() == name);
        known.ok_or_else(|| nearest::unknown("shape", name, Self::ALL.map(Shape::name)))
    }

    /// Whether a collective can have this shape.
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
