/* Calls of a communicator's own collectives, on behalf of algorithms that consist of such. */

#include "interpose.h"

#define ONE(side) (side)->buffer, (side)->count, RUSTCOLL_DATATYPE((side)->datatype)
#define EACH(side) (side)->buffer, (side)->counts, (side)->displacements, RUSTCOLL_DATATYPE((side)->datatype)

static int call_collective(MPI_Comm communicator, const rustcoll_own_call *call)
{
    const rustcoll_own_side *send = &call->send, *recv = &call->recv;
    MPI_Op operator_ = RUSTCOLL_OPERATOR(call->operator_);
    switch (call->collective) {
    case RUSTCOLL_ALLGATHER:
        return MPI_Allgather(ONE(send), ONE(recv), communicator);
    case RUSTCOLL_ALLGATHERV:
        return MPI_Allgatherv(ONE(send), EACH(recv), communicator);
    case RUSTCOLL_ALLREDUCE:
        return MPI_Allreduce(send->buffer, ONE(recv), operator_, communicator);
    case RUSTCOLL_ALLTOALL:
        return MPI_Alltoall(ONE(send), ONE(recv), communicator);
    case RUSTCOLL_ALLTOALLV:
        return MPI_Alltoallv(EACH(send), EACH(recv), communicator);
    case RUSTCOLL_BCAST:
        return MPI_Bcast(ONE(recv), call->root, communicator);
    case RUSTCOLL_EXSCAN:
        return MPI_Exscan(send->buffer, ONE(recv), operator_, communicator);
    case RUSTCOLL_GATHER:
        return MPI_Gather(ONE(send), ONE(recv), call->root, communicator);
    case RUSTCOLL_GATHERV:
        return MPI_Gatherv(ONE(send), EACH(recv), call->root, communicator);
    case RUSTCOLL_REDUCE:
        return MPI_Reduce(send->buffer, ONE(recv), operator_, call->root, communicator);
    case RUSTCOLL_REDUCE_SCATTER:
        return MPI_Reduce_scatter(send->buffer, recv->buffer, send->counts, RUSTCOLL_DATATYPE(recv->datatype), operator_,
                                  communicator);
    case RUSTCOLL_REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(send->buffer, ONE(recv), operator_, communicator);
    case RUSTCOLL_SCATTER:
        return MPI_Scatter(ONE(send), ONE(recv), call->root, communicator);
    case RUSTCOLL_SCATTERV:
        return MPI_Scatterv(EACH(send), ONE(recv), call->root, communicator);
    default:
        return RUSTCOLL_ERR_INTERN;
    }
}

int rustcoll_shim_call(const void *handle, const rustcoll_own_call *call)
{
    return rustcoll_neutral(call_collective(((const rustcoll_state *) handle)->communicator, call));
}
