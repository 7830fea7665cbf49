//! Open MPI's handles and constants that its header defines as casts, which bindgen cannot translate, and the functions
//! of its extension for persistent collectives.

use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
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

pub fn minloc() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_minloc).cast())
}

pub fn maxloc() -> MPI_Op {
    MPI_Op((&raw mut mpi_sys::ompi_mpi_op_maxloc).cast())
}

/// What tells a datatype from all others that live.
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

// Open MPI's extension `pcollreq`, which stands in mpi-ext.h.
unsafe extern "C" {
    pub fn MPIX_Allgather_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_count: c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Allgatherv_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_counts: *const c_int,
        receive_displacements: *const c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Allreduce_init(
        send: *const c_void,
        receive: *mut c_void,
        count: c_int,
        datatype: MPI_Datatype,
        operator: MPI_Op,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Alltoall_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_count: c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Alltoallv_init(
        send: *const c_void,
        send_counts: *const c_int,
        send_displacements: *const c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_counts: *const c_int,
        receive_displacements: *const c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Alltoallw_init(
        send: *const c_void,
        send_counts: *const c_int,
        send_displacements: *const c_int,
        send_types: *const MPI_Datatype,
        receive: *mut c_void,
        receive_counts: *const c_int,
        receive_displacements: *const c_int,
        receive_types: *const MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Barrier_init(communicator: MPI_Comm, info: MPI_Info, request: *mut MPI_Request) -> c_int;
    pub fn MPIX_Bcast_init(
        buffer: *mut c_void,
        count: c_int,
        datatype: MPI_Datatype,
        root: c_int,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Exscan_init(
        send: *const c_void,
        receive: *mut c_void,
        count: c_int,
        datatype: MPI_Datatype,
        operator: MPI_Op,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Gather_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_count: c_int,
        receive_type: MPI_Datatype,
        root: c_int,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Gatherv_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_counts: *const c_int,
        receive_displacements: *const c_int,
        receive_type: MPI_Datatype,
        root: c_int,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Neighbor_allgather_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_count: c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Neighbor_allgatherv_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_counts: *const c_int,
        receive_displacements: *const c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Neighbor_alltoall_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_count: c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Neighbor_alltoallv_init(
        send: *const c_void,
        send_counts: *const c_int,
        send_displacements: *const c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_counts: *const c_int,
        receive_displacements: *const c_int,
        receive_type: MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Neighbor_alltoallw_init(
        send: *const c_void,
        send_counts: *const c_int,
        send_displacements: *const MPI_Aint,
        send_types: *const MPI_Datatype,
        receive: *mut c_void,
        receive_counts: *const c_int,
        receive_displacements: *const MPI_Aint,
        receive_types: *const MPI_Datatype,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Reduce_init(
        send: *const c_void,
        receive: *mut c_void,
        count: c_int,
        datatype: MPI_Datatype,
        operator: MPI_Op,
        root: c_int,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Reduce_scatter_init(
        send: *const c_void,
        receive: *mut c_void,
        counts: *const c_int,
        datatype: MPI_Datatype,
        operator: MPI_Op,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Reduce_scatter_block_init(
        send: *const c_void,
        receive: *mut c_void,
        count: c_int,
        datatype: MPI_Datatype,
        operator: MPI_Op,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Scan_init(
        send: *const c_void,
        receive: *mut c_void,
        count: c_int,
        datatype: MPI_Datatype,
        operator: MPI_Op,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Scatter_init(
        send: *const c_void,
        send_count: c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_count: c_int,
        receive_type: MPI_Datatype,
        root: c_int,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
    pub fn MPIX_Scatterv_init(
        send: *const c_void,
        send_counts: *const c_int,
        send_displacements: *const c_int,
        send_type: MPI_Datatype,
        receive: *mut c_void,
        receive_count: c_int,
        receive_type: MPI_Datatype,
        root: c_int,
        communicator: MPI_Comm,
        info: MPI_Info,
        request: *mut MPI_Request,
    ) -> c_int;
}
