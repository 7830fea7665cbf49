/* Translates the arguments of each collective to the neutral form. Included once for each type of counts. The including
 * file defines COUNT, COUNTS, DISPLACEMENTS, BYTE_DISPLACEMENTS and FORM(name), which makes the functions' names. */
#include "description.h"

static void FORM(describe_blocks)(rustcoll_description *described, BLOCKS_PARAMETERS)
{
    if (is_given(described, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    set_receive(described, recv, recv_count, recv_datatype);
}

static void FORM(describe_allgatherv)(rustcoll_description *described, ALLGATHERV_PARAMETERS)
{
    if (is_given(described, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    set_varying_receive(described, recv, NUMBERS(recv_counts), NUMBERS(displacements), recv_datatype);
}

static void FORM(describe_alltoallv)(rustcoll_description *described, ALLTOALLV_PARAMETERS)
{
    if (is_given(described, send)) {
        set_varying_send(described, send, NUMBERS(send_counts), NUMBERS(send_displacements), send_datatype);
    }
    set_varying_receive(described, recv, NUMBERS(recv_counts), NUMBERS(recv_displacements), recv_datatype);
}

static void FORM(describe_alltoallw)(rustcoll_description *described, ALLTOALLW_PARAMETERS)
{
    rustcoll_call *call = &described->call;
    if (is_given(described, send)) {
        set_separate(&call->send, send, NUMBERS(send_counts), NUMBERS(send_displacements), send_datatypes);
    }
    set_separate(&call->recv, recv, NUMBERS(recv_counts), NUMBERS(recv_displacements), recv_datatypes);
}

static void FORM(describe_neighbor_alltoallw)(rustcoll_description *described, NEIGHBOR_ALLTOALLW_PARAMETERS)
{
    rustcoll_call *call = &described->call;
    set_separate(&call->send, send, NUMBERS(send_counts), NUMBERS(send_displacements), send_datatypes);
    set_separate(&call->recv, recv, NUMBERS(recv_counts), NUMBERS(recv_displacements), recv_datatypes);
}

static void FORM(describe_bcast)(rustcoll_description *described, BCAST_PARAMETERS)
{
    if (describe_root(described, root)) {
        set_receive(described, buffer, count, datatype);
    }
}

static void FORM(describe_reduction)(rustcoll_description *described, REDUCTION_PARAMETERS)
{
    const rustcoll_datatype *type = describe_datatype(datatype, &described->recv_datatype);
    describe_operator(described, operator_);
    if (is_given(described, send)) {
        set_uniform(&described->call.send, send, count, type);
    }
    set_uniform(&described->call.recv, recv, count, type);
}

static void FORM(describe_reduce_scatter)(rustcoll_description *described, REDUCE_SCATTER_PARAMETERS)
{
    rustcoll_call *call = &described->call;
    const rustcoll_datatype *type = describe_datatype(datatype, &described->recv_datatype);
    describe_operator(described, operator_);
    if (is_given(described, send)) {
        set_uniform(&call->send, send, 0, type);
    }
    set_uniform(&call->recv, recv, COUNT_AT(recv_counts, described->group->rank), type);
    call->recv.counts = NUMBERS(recv_counts);
}

static void FORM(describe_reduce)(rustcoll_description *described, REDUCE_PARAMETERS)
{
    const int has = describe_root(described, root);
    const rustcoll_datatype *type = has ? describe_datatype(datatype, &described->recv_datatype) : NULL;
    describe_operator(described, operator_);
    if (is_given_by_each(described, has, send)) {
        set_uniform(&described->call.send, send, count, type);
    }
    if (RUSTCOLL_OF_ROOT & has) {
        set_uniform(&described->call.recv, recv, count, type);
    }
}

static void FORM(describe_gather)(rustcoll_description *described, ROOTED_BLOCKS_PARAMETERS)
{
    const int has = describe_root(described, root);
    if (is_given_by_each(described, has, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    if (RUSTCOLL_OF_ROOT & has) {
        set_receive(described, recv, recv_count, recv_datatype);
    }
}

static void FORM(describe_scatter)(rustcoll_description *described, ROOTED_BLOCKS_PARAMETERS)
{
    const int has = describe_root(described, root);
    if (is_given_by_each(described, has, recv)) {
        set_receive(described, recv, recv_count, recv_datatype);
    }
    if (RUSTCOLL_OF_ROOT & has) {
        set_send(described, send, send_count, send_datatype);
    }
}

static void FORM(describe_gatherv)(rustcoll_description *described, GATHERV_PARAMETERS)
{
    const int has = describe_root(described, root);
    if (is_given_by_each(described, has, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    if (RUSTCOLL_OF_ROOT & has) {
        set_varying_receive(described, recv, NUMBERS(recv_counts), NUMBERS(displacements), recv_datatype);
    }
}

static void FORM(describe_scatterv)(rustcoll_description *described, SCATTERV_PARAMETERS)
{
    const int has = describe_root(described, root);
    if (is_given_by_each(described, has, recv)) {
        set_receive(described, recv, recv_count, recv_datatype);
    }
    if (RUSTCOLL_OF_ROOT & has) {
        set_varying_send(described, send, NUMBERS(send_counts), NUMBERS(displacements), send_datatype);
    }
}
