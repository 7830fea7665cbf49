//! Operators for reductions, with the same arithmetic for MPI and for the expected result.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fmt;

use mpi_sys::{MPI_Datatype, MPI_Op, MPI_User_function};

use crate::datatype::{Scalar, layout_of};
use crate::environment::{Error, abort, check};
use crate::handles;

/// The largest prime whose pairs of residues fit into an `int`.
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
    /// User-defined, does not commute: a value stands for two numbers a and b and these for the map x ↦ ax + b modulo
    /// a prime; the map on the left is applied last.
    Affine,
}

use Arithmetic::{Affine, Max, MaxLoc, MinLoc, Product, Sum};

impl Arithmetic {
    /// Whether operands may change places.
    pub fn commutes(self) -> bool {
        self != Affine
    }

    /// Whether it is one of MPI's own.
    pub fn is_predefined(self) -> bool {
        !matches!(self, Product | Affine)
    }

    /// An operand made from a random number, for the value with this number within its element.
    pub fn operand(self, random: u64, value: usize) -> i64 {
        let random = (random >> 1) as i64;
        match self {
            Sum => random % 1_000_000 - 500_000,
            Max => random % 1_000_000_000 - 500_000_000,
            // Few values, so that equal ones decide by their index.
            MinLoc | MaxLoc if value == 0 => random % 4,
            MinLoc | MaxLoc => random % 1_000,
            Product => random % (PRIME - 1) + 1,
            Affine => pair(random % (PRIME - 1) + 1, (random >> 32) % PRIME),
        }
    }

    /// `left = left ⊕ right` for the values of one element.
    pub fn fold(self, left: &mut [i64], right: &[i64]) {
        match self {
            MinLoc if before((left[0], left[1]), (right[0], right[1])) => {}
            MaxLoc if before((-left[0], left[1]), (-right[0], right[1])) => {}
            MinLoc | MaxLoc => left.copy_from_slice(right),
            _ => left.iter_mut().zip(right).for_each(|(left, &right)| *left = self.apply(*left, right)),
        }
    }

    fn apply(self, left: i64, right: i64) -> i64 {
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

/// An operator, freed when dropped unless it is predefined.
#[derive(Debug)]
pub struct Operator {
    handle: MPI_Op,
    arithmetic: Arithmetic,
    /// Whether MPI keeps the handle without this: it is predefined or freed.
    released: Cell<bool>,
}

impl Operator {
    /// An operator for this arithmetic.
    pub fn new(arithmetic: Arithmetic) -> Result<Self, Error> {
        let handle = match arithmetic {
            Sum => handles::sum(),
            Max => handles::max(),
            MinLoc => handles::minloc(),
            MaxLoc => handles::maxloc(),
            Product => user_defined(Some(product), arithmetic.commutes())?,
            Affine => user_defined(Some(affine), arithmetic.commutes())?,
        };
        let released = Cell::new(!matches!(arithmetic, Product | Affine));
        Ok(Operator { handle, arithmetic, released })
    }

    /// The handle, valid as long as this lives and is not freed.
    pub fn handle(&self) -> MPI_Op {
        self.handle
    }

    /// Frees the handle: MPI itself keeps it until no operation needs it.
    pub fn free(&self) {
        if !self.released.replace(true) {
            let mut handle = self.handle;
            // SAFETY: the handle was made by this, and no new operation gets it.
            unsafe { mpi_sys::MPI_Op_free(&mut handle) };
        }
    }

    /// What it computes.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.free();
    }
}

fn user_defined(function: MPI_User_function, commutes: bool) -> Result<MPI_Op, Error> {
    let mut handle = handles::sum();
    // SAFETY: the function has the signature that MPI demands and lives as long as the program.
    check(unsafe { mpi_sys::MPI_Op_create(function, commutes.into(), &mut handle) })?;
    Ok(handle)
}

unsafe extern "C" fn product(
    left: *mut c_void,
    right: *mut c_void,
    count: *mut c_int,
    datatype: *mut MPI_Datatype,
) {
    // SAFETY: MPI passes the arguments of a user function.
    unsafe { combine(Product, left, right, count, datatype) }
}

unsafe extern "C" fn affine(
    left: *mut c_void,
    right: *mut c_void,
    count: *mut c_int,
    datatype: *mut MPI_Datatype,
) {
    // SAFETY: MPI passes the arguments of a user function.
    unsafe { combine(Affine, left, right, count, datatype) }
}

/// `right = left ⊕ right` for `count` elements.
///
/// # Safety
/// The arguments are those that MPI passes to a user function: both buffers hold `count` elements of the datatype.
unsafe fn combine(
    arithmetic: Arithmetic,
    left: *mut c_void,
    right: *mut c_void,
    count: *mut c_int,
    datatype: *mut MPI_Datatype,
) {
    // SAFETY: MPI passes valid pointers.
    let (count, datatype) = unsafe { (*count, *datatype) };
    let Some(layout) = layout_of(datatype) else {
        eprintln!("a user-defined operator was called with a datatype that the program does not know");
        return abort();
    };
    for element in 0..count as isize {
        for slot in &layout.slots {
            let distance = element * layout.extent + slot.offset;
            // SAFETY: this value lies within both buffers.
            unsafe {
                let (left, right) = (left.byte_offset(distance), right.byte_offset(distance));
                let result = arithmetic.apply(load(left, slot.scalar), load(right, slot.scalar));
                store(right, slot.scalar, result);
            }
        }
    }
}

/// # Safety
/// A value of this type lies at the address.
unsafe fn load(address: *const c_void, scalar: Scalar) -> i64 {
    // SAFETY: promised by the caller.
    unsafe {
        match scalar {
            Scalar::Int => address.cast::<i32>().read_unaligned().into(),
            Scalar::Double => address.cast::<f64>().read_unaligned() as i64,
        }
    }
}

/// # Safety
/// The address has room for a value of this type.
unsafe fn store(address: *mut c_void, scalar: Scalar, value: i64) {
    // SAFETY: promised by the caller.
    unsafe { address.cast::<u8>().copy_from(scalar.encode(value).as_ptr(), scalar.bytes()) }
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
