//! The handles and constants of MPICH, and of MPIs with its binary interface, such as Intel MPI.

use mpi_sys::{MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};

/// `MPI_ROOT`
pub const ROOT: c_int = -3;

/// `MPI_T_PVAR_CLASS_STATE`
pub const STATE: c_int = mpi_sys::MPIR_T_pvar_class_t_MPI_T_PVAR_CLASS_STATE as c_int;

pub fn int() -> MPI_Datatype {
    MPI_Datatype(0x4c00_0405)
}

pub fn double() -> MPI_Datatype {
    MPI_Datatype(0x4c00_080b)
}

pub fn double_int() -> MPI_Datatype {
    MPI_Datatype(0x8c00_0001_u32.cast_signed())
}

pub fn byte() -> MPI_Datatype {
    MPI_Datatype(0x4c00_010d)
}

pub fn max() -> MPI_Op {
    MPI_Op(0x5800_0001)
}

pub fn sum() -> MPI_Op {
    MPI_Op(0x5800_0003)
}

pub fn union() -> MPI_Op {
    MPI_Op(0x5800_0008)
}

pub fn exclusive_or() -> MPI_Op {
    MPI_Op(0x5800_000a)
}

pub fn minloc() -> MPI_Op {
    MPI_Op(0x5800_000b)
}

pub fn maxloc() -> MPI_Op {
    MPI_Op(0x5800_000c)
}

/// Returns a number that identifies a live datatype.
pub fn number(datatype: MPI_Datatype) -> usize {
    datatype.0.cast_unsigned() as usize
}

/// `MPI_IN_PLACE`
pub fn in_place() -> *const c_void {
    std::ptr::without_provenance(usize::MAX)
}

/// `MPI_UNWEIGHTED`
pub fn unweighted() -> *const c_int {
    // SAFETY: reads a constant.
    unsafe { mpi_sys::MPI_UNWEIGHTED }
}
