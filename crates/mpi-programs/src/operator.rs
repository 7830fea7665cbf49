//! Operators for reductions, with the same arithmetic for MPI and for the expected result.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

pub use expected_results::arithmetic::Arithmetic;
use expected_results::layout::Scalar;
use mpi_sys::{MPI_Datatype, MPI_Op, MPI_User_function};

use Arithmetic::{Affine, Max, MaxLoc, MinLoc, Product, Sum, Xor};

use crate::datatype::layout_of;
use crate::environment::{Error, abort, check};
use crate::handles;

/// An operator. Dropping it frees it unless it is predefined.
#[derive(Debug)]
pub struct Operator {
    handle: MPI_Op,
    arithmetic: Arithmetic,
    /// Whether the handle must not be freed: it is predefined or already freed.
    released: Cell<bool>,
}

impl Operator {
    pub fn new(arithmetic: Arithmetic) -> Result<Self, Error> {
        let handle = match arithmetic {
            Sum => handles::sum(),
            Xor => handles::exclusive_or(),
            Max => handles::max(),
            MinLoc => handles::minloc(),
            MaxLoc => handles::maxloc(),
            Product => user_defined(Some(product), arithmetic.commutes())?,
            Affine => user_defined(Some(affine), arithmetic.commutes())?,
        };
        let released = Cell::new(!matches!(arithmetic, Product | Affine));
        Ok(Operator { handle, arithmetic, released })
    }

    /// Returns the handle, which is valid until this is freed or dropped.
    pub fn handle(&self) -> MPI_Op {
        self.handle
    }

    /// Frees the handle; MPI itself keeps the operator until no operation needs it.
    pub fn free(&self) {
        if !self.released.replace(true) {
            let mut handle = self.handle;
            // SAFETY: this object made the handle, and no new operation gets it.
            unsafe { mpi_sys::MPI_Op_free(&mut handle) };
        }
    }

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
/// The arguments must be those that MPI passes to a user function: both buffers hold `count` elements of the
/// datatype.
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
    let prime = layout.prime();
    for element in 0..count as isize {
        for slot in &layout.slots {
            let distance = element * layout.extent + slot.offset;
            // SAFETY: this value lies within both buffers.
            unsafe {
                let (left, right) = (left.byte_offset(distance), right.byte_offset(distance));
                let result = arithmetic.apply(prime, load(left, slot.scalar), load(right, slot.scalar));
                store(right, slot.scalar, result);
            }
        }
    }
}

/// # Safety
/// The address must hold a value of this type.
unsafe fn load(address: *const c_void, scalar: Scalar) -> i64 {
    // SAFETY: promised by the caller.
    unsafe {
        match scalar {
            Scalar::Byte => address.cast::<u8>().read().into(),
            Scalar::Int => address.cast::<i32>().read_unaligned().into(),
            Scalar::Double => address.cast::<f64>().read_unaligned() as i64,
        }
    }
}

/// # Safety
/// The address must have room for a value of this type.
unsafe fn store(address: *mut c_void, scalar: Scalar, value: i64) {
    // SAFETY: promised by the caller.
    unsafe { address.cast::<u8>().copy_from(scalar.encode(value).as_ptr(), scalar.bytes()) }
}
