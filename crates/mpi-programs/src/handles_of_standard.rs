//! The handles and constants of the MPI 5 standard for all MPIs (MPI 5.0, appendix A.3).

use mpi_sys::{MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};
use std::ptr::{without_provenance, without_provenance_mut};

/// `MPI_ROOT`
pub const ROOT: c_int = -4;

/// `MPI_T_PVAR_CLASS_STATE`
pub const STATE: c_int = 1;

pub fn int() -> MPI_Datatype {
    MPI_Datatype(without_provenance_mut(0x209))
}

pub fn double() -> MPI_Datatype {
    MPI_Datatype(without_provenance_mut(0x214))
}

pub fn double_int() -> MPI_Datatype {
    MPI_Datatype(without_provenance_mut(0x229))
}

pub fn byte() -> MPI_Datatype {
    MPI_Datatype(without_provenance_mut(0x247))
}

pub fn sum() -> MPI_Op {
    MPI_Op(without_provenance_mut(0x21))
}

pub fn max() -> MPI_Op {
    MPI_Op(without_provenance_mut(0x23))
}

pub fn union() -> MPI_Op {
    MPI_Op(without_provenance_mut(0x29))
}

pub fn exclusive_or() -> MPI_Op {
    MPI_Op(without_provenance_mut(0x2a))
}

pub fn minloc() -> MPI_Op {
    MPI_Op(without_provenance_mut(0x38))
}

pub fn maxloc() -> MPI_Op {
    MPI_Op(without_provenance_mut(0x39))
}

/// Returns a number that identifies a live datatype.
pub fn number(datatype: MPI_Datatype) -> usize {
    datatype.0.addr()
}

/// `MPI_IN_PLACE`
pub fn in_place() -> *const c_void {
    without_provenance(1)
}

/// `MPI_UNWEIGHTED`
pub fn unweighted() -> *const c_int {
    without_provenance(10)
}
