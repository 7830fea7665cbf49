//! Persistent collectives of MPI 4.

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
