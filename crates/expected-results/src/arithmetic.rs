//! The arithmetic of operators. MPI's user-defined operators and the expected results both use it.

use std::fmt;

/// What an operator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `MPI_SUM`
    Sum,
    /// `MPI_BXOR`
    Xor,
    /// `MPI_MAX`
    Max,
    /// `MPI_MINLOC`
    MinLoc,
    /// `MPI_MAXLOC`
    MaxLoc,
    /// User-defined: each value is multiplied modulo a prime, which the datatype determines.
    Product,
    /// User-defined, does not commute: a value encodes two numbers a and b, which define the map x ↦ ax + b
    /// modulo a prime. The map on the left is applied last.
    Affine,
}

use Arithmetic::{Affine, Max, MaxLoc, MinLoc, Product, Sum, Xor};

impl Arithmetic {
    pub fn commutes(self) -> bool {
        self != Affine
    }

    pub fn is_predefined(self) -> bool {
        !matches!(self, Product | Affine)
    }

    /// Makes an operand from a random number. `value` is the index of the value within its element, and `prime` is
    /// [`Layout::prime`](crate::layout::Layout::prime).
    pub fn operand(self, prime: i64, random: u64, value: usize) -> i64 {
        let random = (random >> 1) as i64;
        match self {
            Sum => random % 1_000_000 - 500_000,
            Xor => random % 256,
            Max => random % 1_000_000_000 - 500_000_000,
            // Only four values, so that many are equal and the index decides.
            MinLoc | MaxLoc if value == 0 => random % 4,
            MinLoc | MaxLoc => random % 1_000,
            Product => random % (prime - 1) + 1,
            Affine => pair(prime, random % (prime - 1) + 1, (random >> 32) % prime),
        }
    }

    /// Sets `left = left ⊕ right` for the values of one element.
    pub fn fold(self, prime: i64, left: &mut [i64], right: &[i64]) {
        match self {
            MinLoc if before((left[0], left[1]), (right[0], right[1])) => {}
            MaxLoc if before((-left[0], left[1]), (-right[0], right[1])) => {}
            MinLoc | MaxLoc => left.copy_from_slice(right),
            _ => {
                left.iter_mut().zip(right).for_each(|(left, &right)| *left = self.apply(prime, *left, right))
            }
        }
    }

    /// Returns `left ⊕ right` for one value.
    pub fn apply(self, prime: i64, left: i64, right: i64) -> i64 {
        match self {
            Sum => left + right,
            Xor => left ^ right,
            Product => left * right % prime,
            Affine => {
                let ((a, b), (c, d)) = (unpair(prime, left), unpair(prime, right));
                pair(prime, a * c % prime, (a * d + b) % prime)
            }
            Max | MinLoc | MaxLoc => left.max(right),
        }
    }
}

fn before(left: (i64, i64), right: (i64, i64)) -> bool {
    left <= right
}

fn pair(prime: i64, a: i64, b: i64) -> i64 {
    a * prime + b
}

fn unpair(prime: i64, number: i64) -> (i64, i64) {
    (number / prime, number % prime)
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Sum => "MPI_SUM",
            Xor => "MPI_BXOR",
            Max => "MPI_MAX",
            MinLoc => "MPI_MINLOC",
            MaxLoc => "MPI_MAXLOC",
            Product => "user-defined product",
            Affine => "user-defined composition of affine maps",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Scalar;
    use crate::random::nth;

    #[test]
    fn the_composition_is_associative_and_does_not_commute() {
        for prime in [Scalar::Byte, Scalar::Int].map(Scalar::prime) {
            let [a, b, c] = [1, 2, 3].map(|index| Affine.operand(prime, nth(5, index), 0));
            let after = |left, right| Affine.apply(prime, left, right);
            assert_eq!(after(after(a, b), c), after(a, after(b, c)));
            assert_ne!(after(a, b), after(b, a));
        }
    }

    #[test]
    fn operands_and_results_fit_into_their_type() {
        let largest = |prime| pair(prime, prime - 1, prime - 1);
        assert!(u8::try_from(largest(Scalar::Byte.prime())).is_ok());
        assert!(i32::try_from(largest(Scalar::Int.prime())).is_ok());
    }

    #[test]
    fn equal_values_decide_by_the_smaller_index() {
        for arithmetic in [MinLoc, MaxLoc] {
            let mut left = [2, 9];
            arithmetic.fold(Scalar::Int.prime(), &mut left, &[2, 3]);
            assert_eq!(left, [2, 3]);
        }
    }
}
