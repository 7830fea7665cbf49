//! Persistent collectives of Open MPI 4.1: its extension `pcollreq`, declared in mpi-ext.h.

use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use std::ffi::{c_int, c_void};

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
