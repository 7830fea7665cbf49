//! The tags under which collectives that block communicate.

use super::bindings::*;
use crate::algorithms::Collective;
use std::ffi::c_int;

/// The tag that Open MPI reserves for a collective that blocks; those among neighbours share that of their like.
pub fn tag(collective: Collective) -> c_int {
    match collective {
        Collective::Allgather | Collective::NeighborAllgather => MCA_COLL_BASE_TAG_ALLGATHER,
        Collective::Allgatherv | Collective::NeighborAllgatherv => MCA_COLL_BASE_TAG_ALLGATHERV,
        Collective::Allreduce => MCA_COLL_BASE_TAG_ALLREDUCE,
        Collective::Alltoall | Collective::NeighborAlltoall => MCA_COLL_BASE_TAG_ALLTOALL,
        Collective::Alltoallv | Collective::NeighborAlltoallv => MCA_COLL_BASE_TAG_ALLTOALLV,
        Collective::Alltoallw | Collective::NeighborAlltoallw => MCA_COLL_BASE_TAG_ALLTOALLW,
        Collective::Barrier => MCA_COLL_BASE_TAG_BARRIER,
        Collective::Bcast => MCA_COLL_BASE_TAG_BCAST,
        Collective::Exscan => MCA_COLL_BASE_TAG_EXSCAN,
        Collective::Gather => MCA_COLL_BASE_TAG_GATHER,
        Collective::Gatherv => MCA_COLL_BASE_TAG_GATHERV,
        Collective::Reduce => MCA_COLL_BASE_TAG_REDUCE,
        Collective::ReduceScatter => MCA_COLL_BASE_TAG_REDUCE_SCATTER,
        Collective::ReduceScatterBlock => MCA_COLL_BASE_TAG_REDUCE_SCATTER_BLOCK,
        Collective::Scan => MCA_COLL_BASE_TAG_SCAN,
        Collective::Scatter => MCA_COLL_BASE_TAG_SCATTER,
        Collective::Scatterv => MCA_COLL_BASE_TAG_SCATTERV,
    }
}
