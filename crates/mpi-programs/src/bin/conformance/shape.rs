//! The datatypes that are tested.

use std::fmt;
use std::rc::Rc;

use mpi_programs::call::Elements;
use mpi_programs::datatype::Datatype;
use mpi_programs::environment::Error;
use mpi_programs::operator::Arithmetic;

/// A way in which values lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    Byte,
    Int,
    Double,
    DoubleInt,
    Vector,
    /// 3 bytes of 5.
    GappedBytes,
    NegativeLowerBound,
    LargeExtent,
    Interleaved,
    Whole,
}

use Shape::{
    Byte, Double, DoubleInt, GappedBytes, Int, Interleaved, LargeExtent, NegativeLowerBound, Vector, Whole,
};

impl Shape {
    /// Shapes whose elements have a fixed number of values.
    pub const REGULAR: [Shape; 9] =
        [Byte, Int, Double, DoubleInt, Vector, GappedBytes, NegativeLowerBound, LargeExtent, Interleaved];

    /// Returns a datatype for vectors of `values` values.
    pub fn datatype(self, values: usize) -> Result<Datatype, Error> {
        let int = Datatype::int();
        match self {
            Byte => Ok(Datatype::byte()),
            Int => Ok(int),
            Double => Ok(Datatype::double()),
            DoubleInt => Ok(Datatype::double_int()),
            Vector => Datatype::vector(2, 2, 3, &int),
            GappedBytes => Datatype::displaced(&[0, 1, 4], &Datatype::byte()),
            NegativeLowerBound => Datatype::displaced(&[-8, 4], &int),
            LargeExtent => Datatype::resized(-4, 28, &Datatype::displaced(&[0, 8], &int)?),
            Interleaved => Datatype::resized(0, 8, &Datatype::displaced(&[0, 12], &int)?),
            Whole => Datatype::contiguous(values, &int),
        }
    }

    /// Returns the operators that MPI defines on such elements, and those of users.
    pub fn operators(self) -> &'static [Arithmetic] {
        match self {
            Byte => &[Arithmetic::Xor, Arithmetic::Product, Arithmetic::Affine],
            Int | Double => &[Arithmetic::Sum, Arithmetic::Max, Arithmetic::Product, Arithmetic::Affine],
            DoubleInt => &[Arithmetic::MinLoc, Arithmetic::MaxLoc, Arithmetic::Product, Arithmetic::Affine],
            _ => &[Arithmetic::Product, Arithmetic::Affine],
        }
    }

    /// Returns as many elements as have `values` values together.
    pub fn elements(self, datatype: &Rc<Datatype>, values: usize) -> Elements {
        // Without values there must be no elements: Open MPI skips a broadcast only on the ranks whose count is 0.
        let width = datatype.layout().slots.len().max(1);
        Elements { datatype: datatype.clone(), count: values / width }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Byte => "MPI_BYTE",
            Int => "MPI_INT",
            Double => "MPI_DOUBLE",
            DoubleInt => "MPI_DOUBLE_INT",
            Vector => "vector with gaps",
            GappedBytes => "bytes with gaps",
            NegativeLowerBound => "negative lower bound",
            LargeExtent => "resized to a larger extent",
            Interleaved => "interleaved elements",
            Whole => "one element for the whole vector",
        })
    }
}

/// The datatypes of two sides of a call. Their signatures are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sides(pub Shape, pub Shape);

impl Sides {
    /// Returns every regular shape with itself.
    pub fn same() -> impl Iterator<Item = Sides> {
        Shape::REGULAR.into_iter().map(|shape| Sides(shape, shape))
    }

    pub const MIXED: [Sides; 6] = [
        Sides(Whole, Int),
        Sides(Int, Vector),
        Sides(Byte, GappedBytes),
        Sides(Vector, NegativeLowerBound),
        Sides(LargeExtent, Whole),
        Sides(NegativeLowerBound, Interleaved),
    ];

    /// Whether one of the datatypes only fits vectors of one length.
    pub fn fix_length(self) -> bool {
        self.0 == Whole || self.1 == Whole
    }

    pub fn differ(self) -> bool {
        self.0 != self.1
    }

    /// Returns the number of values in a vector of `count` elements of the larger type.
    pub fn values(self, count: usize) -> usize {
        count
            * match self {
                Sides(Byte, Byte) | Sides(Int, Int) | Sides(Double, Double) => 1,
                Sides(_, GappedBytes) => 3,
                Sides(left, right) if left == right && left != Vector => 2,
                _ => 4,
            }
    }
}

impl fmt::Display for Sides {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self.differ() {
            true => write!(formatter, "{} to {}", self.0, self.1),
            false => self.0.fmt(formatter),
        }
    }
}
