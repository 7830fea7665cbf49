//! The same handles and constants as MPICH and those that share its binary interface define them, as Intel MPI does.

pub use mpi_sys::{
    MPI_Allgather_init as MPIX_Allgather_init, MPI_Allgatherv_init as MPIX_Allgatherv_init,
    MPI_Allreduce_init as MPIX_Allreduce_init, MPI_Alltoall_init as MPIX_Alltoall_init,
    MPI_Alltoallv_init as MPIX_Alltoallv_init, MPI_Alltoallw_init as MPIX_Alltoallw_init,
    MPI_Barrier_init as MPIX_Barrier_init, MPI_Bcast_init as MPIX_Bcast_init,
    MPI_Exscan_init as MPIX_Exscan_init, MPI_Gather_init as MPIX_Gather_init,
    MPI_Gatherv_init as MPIX_Gatherv_init, MPI_Neighbor_allgather_init as MPIX_Neighbor_allgather_init,
    MPI_Neighbor_allgatherv_init as MPIX_Neighbor_allgatherv_init,
    MPI_Neighbor_alltoall_init as MPIX_Neighbor_alltoall_init,
    MPI_Neighbor_alltoallv_init as MPIX_Neighbor_alltoallv_init,
    MPI_Neighbor_alltoallw_init as MPIX_Neighbor_alltoallw_init, MPI_Reduce_init as MPIX_Reduce_init,
    MPI_Reduce_scatter_block_init as MPIX_Reduce_scatter_block_init,
    MPI_Reduce_scatter_init as MPIX_Reduce_scatter_init, MPI_Scan_init as MPIX_Scan_init,
    MPI_Scatter_init as MPIX_Scatter_init, MPI_Scatterv_init as MPIX_Scatterv_init,
};
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

pub fn minloc() -> MPI_Op {
    MPI_Op(0x5800_000b)
}

pub fn maxloc() -> MPI_Op {
    MPI_Op(0x5800_000c)
}

/// What tells a datatype from all others that live.
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
