//! Open MPI's handles and constants that its header defines as casts, which bindgen cannot translate.

use mpi_sys::{MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};

/// `MPI_ROOT`
pub const ROOT: c_int = -4;

/// `MPI_T_PVAR_CLASS_STATE`
pub const STATE: c_int = mpi_sys::MPI_T_PVAR_CLASS_STATE as c_int;

pub fn int() -> MPI_Datatype {
    MPI_Datatype((&raw mut mpi_sys::ompi_mpi_int).cast())
}

pub fn double() -> MPI_Datatype {
    MPI_Datatype((&raw mut mpi_sys::ompi_mpi_double).cast())
}

pub fn double_int() -> MPI_Datatype {
    MPI_Datatype((&raw mut mpi_sys::ompi_mpi_double_int).cast())
}

pub fn byte() -> MPI_Datatype {
    MPI_Datatype((&raw mut mpi_sys::ompi_mpi_byte).cast())
}

pub fn sum() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_sum).cast())
}

pub fn max() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_max).cast())
}

pub fn union() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_bor).cast())
}

pub fn exclusive_or() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_bxor).cast())
}

pub fn minloc() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_minloc).cast())
}

pub fn maxloc() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_maxloc).cast())
}

/// Returns a number that identifies a live datatype.
pub fn number(datatype: MPI_Datatype) -> usize {
    datatype.0.addr()
}

/// `MPI_IN_PLACE`
pub fn in_place() -> *const c_void {
    std::ptr::without_provenance(1)
}

/// `MPI_UNWEIGHTED`
pub fn unweighted() -> *const c_int {
    std::ptr::without_provenance(2)
}
