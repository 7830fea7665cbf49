/* What bindgen turns into Rust for the library that is loaded before an MPI: the neutral interface, and for what Open MPI has
 * numbers of its own, those of this library. */
#include "src/coll_component/shim.h"
#include "src/interpose/errors.h"

#define MPI_SUCCESS 0
#define MPI_ERR_COUNT RUSTCOLL_ERR_COUNT
#define MPI_ERR_ROOT RUSTCOLL_ERR_ROOT
#define MPI_ERR_TRUNCATE RUSTCOLL_ERR_TRUNCATE
#define MPI_ERR_INTERN RUSTCOLL_ERR_INTERN
#define MPI_ERR_NO_MEM RUSTCOLL_ERR_NO_MEM

/* The tags of collectives that block, on a communicator that nobody else uses. */
#define MCA_COLL_BASE_TAG_ALLGATHER 1
#define MCA_COLL_BASE_TAG_ALLGATHERV 2
#define MCA_COLL_BASE_TAG_ALLREDUCE 3
#define MCA_COLL_BASE_TAG_ALLTOALL 4
#define MCA_COLL_BASE_TAG_ALLTOALLV 5
#define MCA_COLL_BASE_TAG_ALLTOALLW 6
#define MCA_COLL_BASE_TAG_BARRIER 7
#define MCA_COLL_BASE_TAG_BCAST 8
#define MCA_COLL_BASE_TAG_EXSCAN 9
#define MCA_COLL_BASE_TAG_GATHER 10
#define MCA_COLL_BASE_TAG_GATHERV 11
#define MCA_COLL_BASE_TAG_REDUCE 12
#define MCA_COLL_BASE_TAG_REDUCE_SCATTER 13
#define MCA_COLL_BASE_TAG_REDUCE_SCATTER_BLOCK 14
#define MCA_COLL_BASE_TAG_SCAN 15
#define MCA_COLL_BASE_TAG_SCATTER 16
#define MCA_COLL_BASE_TAG_SCATTERV 17
