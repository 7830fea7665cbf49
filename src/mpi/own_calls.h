/* Calls of a communicator's own collectives, for algorithms that consist of them. The including file defines
 * COMMUNICATOR, the type of a communicator; CALL(name, Name, ...), which calls a collective on `communicator` with the
 * given arguments; DATATYPE(side), COUNTS_OF(side) and DISPLACEMENTS_OF(side) of a side; and OPERATOR(handle). */

#define ONE(side) (side)->buffer, (side)->count, DATATYPE(side)
#define EACH(side) (side)->buffer, COUNTS_OF(side), DISPLACEMENTS_OF(side), DATATYPE(side)

static int call_collective(COMMUNICATOR communicator, const rustcoll_own_call *call)
{
    const rustcoll_own_side *send = &call->send, *recv = &call->recv;
    switch (call->collective) {
    case RUSTCOLL_ALLGATHER:
        return CALL(allgather, Allgather, ONE(send), ONE(recv));
    case RUSTCOLL_ALLGATHERV:
        return CALL(allgatherv, Allgatherv, ONE(send), EACH(recv));
    case RUSTCOLL_ALLREDUCE:
        return CALL(allreduce, Allreduce, send->buffer, ONE(recv), OPERATOR(call->operator_));
    case RUSTCOLL_ALLTOALL:
        return CALL(alltoall, Alltoall, ONE(send), ONE(recv));
    case RUSTCOLL_ALLTOALLV:
        return CALL(alltoallv, Alltoallv, EACH(send), EACH(recv));
    case RUSTCOLL_BCAST:
        return CALL(bcast, Bcast, ONE(recv), call->root);
    case RUSTCOLL_EXSCAN:
        return CALL(exscan, Exscan, send->buffer, ONE(recv), OPERATOR(call->operator_));
    case RUSTCOLL_GATHER:
        return CALL(gather, Gather, ONE(send), ONE(recv), call->root);
    case RUSTCOLL_GATHERV:
        return CALL(gatherv, Gatherv, ONE(send), EACH(recv), call->root);
    case RUSTCOLL_REDUCE:
        return CALL(reduce, Reduce, send->buffer, ONE(recv), OPERATOR(call->operator_), call->root);
    case RUSTCOLL_REDUCE_SCATTER:
        return CALL(reduce_scatter, Reduce_scatter, send->buffer, recv->buffer, COUNTS_OF(send), DATATYPE(recv),
                    OPERATOR(call->operator_));
    case RUSTCOLL_REDUCE_SCATTER_BLOCK:
        return CALL(reduce_scatter_block, Reduce_scatter_block, send->buffer, ONE(recv), OPERATOR(call->operator_));
    case RUSTCOLL_SCATTER:
        return CALL(scatter, Scatter, ONE(send), ONE(recv), call->root);
    case RUSTCOLL_SCATTERV:
        return CALL(scatterv, Scatterv, EACH(send), ONE(recv), call->root);
    default:
        return MPI_ERR_INTERN;
    }
}
