/* Calls of a communicator's own collectives, on behalf of algorithms that consist of such. */

#include "component.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

/* Calls the slot of a collective with these arguments and those that each of them ends with. */
#define CALL(name, ...)                                                                                      \
    communicator->c_coll->coll_##name(__VA_ARGS__, communicator, communicator->c_coll->coll_##name##_module)

#define DATATYPE(side) ((ompi_datatype_t *) (side)->datatype)
#define ONE(side) (side)->buffer, (side)->count, DATATYPE(side)
#define EACH(side)                                                                                           \
    (side)->buffer, RUSTCOLL_COUNTS((side)->counts), RUSTCOLL_DISPLACEMENTS((side)->displacements), DATATYPE(side)

static int call_collective(ompi_communicator_t *communicator, const rustcoll_own_call *call)
{
    const rustcoll_own_side *send = &call->send, *recv = &call->recv;
    ompi_op_t *operator_ = (ompi_op_t *) call->operator_;
    switch (call->collective) {
    case RUSTCOLL_ALLGATHER:
        return CALL(allgather, ONE(send), ONE(recv));
    case RUSTCOLL_ALLGATHERV:
        return CALL(allgatherv, ONE(send), EACH(recv));
    case RUSTCOLL_ALLREDUCE:
        return CALL(allreduce, send->buffer, ONE(recv), operator_);
    case RUSTCOLL_ALLTOALL:
        return CALL(alltoall, ONE(send), ONE(recv));
    case RUSTCOLL_ALLTOALLV:
        return CALL(alltoallv, EACH(send), EACH(recv));
    case RUSTCOLL_BCAST:
        return CALL(bcast, ONE(recv), call->root);
    case RUSTCOLL_EXSCAN:
        return CALL(exscan, send->buffer, ONE(recv), operator_);
    case RUSTCOLL_GATHER:
        return CALL(gather, ONE(send), ONE(recv), call->root);
    case RUSTCOLL_GATHERV:
        return CALL(gatherv, ONE(send), EACH(recv), call->root);
    case RUSTCOLL_REDUCE:
        return CALL(reduce, send->buffer, ONE(recv), operator_, call->root);
    case RUSTCOLL_REDUCE_SCATTER:
        return CALL(reduce_scatter, send->buffer, recv->buffer, RUSTCOLL_COUNTS(send->counts), DATATYPE(recv), operator_);
    case RUSTCOLL_REDUCE_SCATTER_BLOCK:
        return CALL(reduce_scatter_block, send->buffer, ONE(recv), operator_);
    case RUSTCOLL_SCATTER:
        return CALL(scatter, ONE(send), ONE(recv), call->root);
    case RUSTCOLL_SCATTERV:
        return CALL(scatterv, EACH(send), ONE(recv), call->root);
    default:
        return MPI_ERR_INTERN;
    }
}

int rustcoll_shim_call(const void *communicator, const rustcoll_own_call *call)
{
    return rustcoll_neutral(call_collective((ompi_communicator_t *) communicator, call));
}
