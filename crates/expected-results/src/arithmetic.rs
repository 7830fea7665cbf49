//! The arithmetic of operators. MPI's user-defined operators and the expected results both use it.

use std::fmt;

const PRIME: i64 = 46_337;

/// What an operator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `MPI_SUM`
    Sum,
    /// `MPI_MAX`
    Max,
    /// `MPI_MINLOC`
    MinLoc,
    /// `MPI_MAXLOC`
    MaxLoc,
    /// User-defined: each value is multiplied modulo a prime.
    Product,
    /// User-defined, does not commute: a value encodes two numbers a and b, which define the map x ↦ ax + b
    /// modulo a prime. The map on the left is applied last.
    Affine,
}

use Arithmetic::{Affine, Max, MaxLoc, MinLoc, Product, Sum};

impl Arithmetic {
    pub fn commutes(self) -> bool {
        self != Affine
    }

    pub fn is_predefined(self) -> bool {
        !matches!(self, Product | Affine)
    }

    /// Makes an operand from a random number. `value` is the index of the value within its element.
    pub fn operand(self, random: u64, value: usize) -> i64 {
        let random = (random >> 1) as i64;
        match self {
            Sum => random % 1_000_000 - 500_000,
            Max => random % 1_000_000_000 - 500_000_000,
            // Only four values, so that many are equal and the index decides.
            MinLoc | MaxLoc if value == 0 => random % 4,
            MinLoc | MaxLoc => random % 1_000,
            Product => random % (PRIME - 1) + 1,
            Affine => pair(random % (PRIME - 1) + 1, (random >> 32) % PRIME),
        }
    }

    /// Sets `left = left ⊕ right` for the values of one element.
    pub fn fold(self, left: &mut [i64], right: &[i64]) {
        match self {
            MinLoc if before((left[0], left[1]), (right[0], right[1])) => {}
            MaxLoc if before((-left[0], left[1]), (-right[0], right[1])) => {}
            MinLoc | MaxLoc => left.copy_from_slice(right),
            _ => left.iter_mut().zip(right).for_each(|(left, &right)| *left = self.apply(*left, right)),
        }
    }

    /// Returns `left ⊕ right` for one value.
    pub fn apply(self, left: i64, right: i64) -> i64 {
        match self {
            Sum => left + right,
            Product => left * right % PRIME,
            Affine => {
                let ((a, b), (c, d)) = (unpair(left), unpair(right));
                pair(a * c % PRIME, (a * d + b) % PRIME)
            }
            Max | MinLoc | MaxLoc => left.max(right),
        }
    }
}

fn before(left: (i64, i64), right: (i64, i64)) -> bool {
    left <= right
}

fn pair(a: i64, b: i64) -> i64 {
    a * PRIME + b
}

fn unpair(number: i64) -> (i64, i64) {
    (number / PRIME, number % PRIME)
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Sum => "MPI_SUM",
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
    use crate::random::nth;

    #[test]
    fn the_composition_is_associative_and_does_not_commute() {
        let [a, b, c] = [1, 2, 3].map(|index| Affine.operand(nth(5, index), 0));
        assert_eq!(Affine.apply(Affine.apply(a, b), c), Affine.apply(a, Affine.apply(b, c)));
        assert_ne!(Affine.apply(a, b), Affine.apply(b, a));
    }

    #[test]
    fn operands_and_results_fit_into_an_int() {
        let largest = pair(PRIME - 1, PRIME - 1);
        assert!(i32::try_from(largest).is_ok());
        assert!(i32::try_from(Affine.apply(largest, largest)).is_ok());
    }

    #[test]
    fn equal_values_decide_by_the_smaller_index() {
        for arithmetic in [MinLoc, MaxLoc] {
            let mut left = [2, 9];
            arithmetic.fold(&mut left, &[2, 3]);
            assert_eq!(left, [2, 3]);
        }
    }
}
