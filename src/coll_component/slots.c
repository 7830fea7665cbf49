/* The module's slots: each describes its call in the neutral form, hands it to Rust, and if Rust says so calls the
 * component below. */

#include "component.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

/* A call in the neutral form, and what it points to. */
typedef struct description {
    rustcoll_call call;
    rustcoll_datatype send_datatype, recv_datatype;
    rustcoll_operator operator_;
} description;

/* The three slots of a collective: they differ in what follows the arguments that SIGNATURE_PARAMETERS declares and
 * SIGNATURE_ARGUMENTS passes on. */
#define SLOTS(number, name, signature, describe)                                                             \
    static int blocking_##name(signature##_PARAMETERS, mca_coll_base_module_t *super)                        \
    {                                                                                                        \
        const rustcoll_module *module = (rustcoll_module *) super;                                           \
        description described;                                                                               \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        describe(&described, signature##_ARGUMENTS);                                                         \
        int status = rustcoll_run(module->state, &described.call);                                           \
        if (RUSTCOLL_BELOW == status) {                                                                      \
            status = module->below.coll_##name(signature##_ARGUMENTS, module->below.coll_##name##_module);   \
            rustcoll_ended_below(module->state);                                                             \
        }                                                                                                    \
        return status;                                                                                       \
    }                                                                                                        \
    static int nonblocking_##name(signature##_PARAMETERS, ompi_request_t **request,                          \
                                  mca_coll_base_module_t *super)                                             \
    {                                                                                                        \
        const rustcoll_module *module = (rustcoll_module *) super;                                           \
        description described;                                                                               \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        describe(&described, signature##_ARGUMENTS);                                                         \
        int status = rustcoll_request_new(module, &described.call, 0, communicator, request);                \
        return RUSTCOLL_BELOW != status ? status                                                             \
                                        : module->below.coll_i##name(signature##_ARGUMENTS, request,         \
                                                                     module->below.coll_i##name##_module);   \
    }                                                                                                        \
    static int persistent_##name(signature##_PARAMETERS, struct ompi_info_t *info, ompi_request_t **request, \
                                 mca_coll_base_module_t *super)                                              \
    {                                                                                                        \
        const rustcoll_module *module = (rustcoll_module *) super;                                           \
        description described;                                                                               \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        describe(&described, signature##_ARGUMENTS);                                                         \
        int status = rustcoll_request_new(module, &described.call, 1, communicator, request);                \
        return RUSTCOLL_BELOW != status                                                                      \
                   ? status                                                                                  \
                   : module->below.coll_##name##_init(signature##_ARGUMENTS, info, request,                  \
                                                      module->below.coll_##name##_init_module);              \
    }

static const rustcoll_datatype *describe_datatype(const struct ompi_datatype_t *datatype, rustcoll_datatype *place)
{
    rustcoll_shim_describe(datatype, place);
    return place;
}

static void describe_operator(description *described, struct ompi_op_t *operator_)
{
    described->operator_ = (rustcoll_operator) {operator_, ompi_op_is_commute(operator_),
                                                 ompi_op_is_intrinsic(operator_)};
    described->call.operator_ = &described->operator_;
}

/* The buffers of a collective with a root: one that the root has, and one that each rank has. */
enum { OF_ROOT = 1, OF_EACH = 2 };

/* Returns which of them are significant at this rank. Between groups the root has but the one, the ranks of the other
 * group have but the other, and those of the root's group none. */
static int describe_root(description *described, int root, struct ompi_communicator_t *communicator)
{
    const int rank = ompi_comm_rank(communicator);
    if (!OMPI_COMM_IS_INTER(communicator)) {
        described->call.root = root;
        return rank == root ? OF_ROOT | OF_EACH : OF_EACH;
    }
    const int size = ompi_comm_size(communicator);
    switch (root) {
    case MPI_ROOT:
        described->call.root = rank;
        return OF_ROOT;
    case MPI_PROC_NULL:
        /* Some other rank of the group; which one makes no difference to a rank that has nothing to do. */
        described->call.root = (rank + 1) % size;
        return 0;
    default:
        described->call.root = size + root;
        return OF_EACH;
    }
}

/* Sides are zero before; they are filled in place, for this is on the way of every short call. */
static void set_uniform(rustcoll_side *side, const void *buffer, int count, const rustcoll_datatype *datatype)
{
    side->buffer = buffer;
    side->count = (size_t) count;
    side->datatype = datatype;
}

static void set_varying(rustcoll_side *side, const void *buffer, const int *counts, const int *displacements,
                        const rustcoll_datatype *datatype)
{
    side->buffer = buffer;
    side->datatype = datatype;
    side->counts.values = counts;
    side->displacements.values = displacements;
}

static void set_separate(rustcoll_side *side, const void *buffer, const int *counts, rustcoll_numbers displacements,
                         struct ompi_datatype_t *const *datatypes)
{
    side->buffer = buffer;
    side->counts.values = counts;
    side->displacements = displacements;
    side->datatypes = (const void *const *) datatypes;
}

static void set_send(description *described, const void *send, int count, struct ompi_datatype_t *datatype)
{
    set_uniform(&described->call.send, send, count, describe_datatype(datatype, &described->send_datatype));
}

static void set_receive(description *described, void *recv, int count, struct ompi_datatype_t *datatype)
{
    set_uniform(&described->call.recv, recv, count, describe_datatype(datatype, &described->recv_datatype));
}

static void set_varying_send(description *described, const void *send, const int *counts, const int *displacements,
                             struct ompi_datatype_t *datatype)
{
    const rustcoll_datatype *type = describe_datatype(datatype, &described->send_datatype);
    set_varying(&described->call.send, send, counts, displacements, type);
}

static void set_varying_receive(description *described, void *recv, const int *counts, const int *displacements,
                                struct ompi_datatype_t *datatype)
{
    const rustcoll_datatype *type = describe_datatype(datatype, &described->recv_datatype);
    set_varying(&described->call.recv, recv, counts, displacements, type);
}

/* Whether a buffer that each rank passes stands for data of its own; else MPI_IN_PLACE stands there. */
static int is_given(description *described, const void *buffer)
{
    described->call.in_place = MPI_IN_PLACE == buffer;
    return !described->call.in_place;
}

/* The same of the buffer that each rank has in a collective with a root, where only the root may be in place. */
static int is_given_by_each(description *described, int has, const void *buffer)
{
    described->call.in_place = (OF_ROOT | OF_EACH) == has && MPI_IN_PLACE == buffer;
    return OF_EACH & has && !described->call.in_place;
}

#define BLOCKS_PARAMETERS                                                                                    \
    const void *send, int send_count, struct ompi_datatype_t *send_datatype, void *recv, int recv_count,     \
        struct ompi_datatype_t *recv_datatype, struct ompi_communicator_t *communicator
#define BLOCKS_ARGUMENTS send, send_count, send_datatype, recv, recv_count, recv_datatype, communicator

static void describe_blocks(description *described, BLOCKS_PARAMETERS)
{
    if (is_given(described, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    set_receive(described, recv, recv_count, recv_datatype);
}

SLOTS(ALLGATHER, allgather, BLOCKS, describe_blocks)
SLOTS(ALLTOALL, alltoall, BLOCKS, describe_blocks)
SLOTS(NEIGHBOR_ALLGATHER, neighbor_allgather, BLOCKS, describe_blocks)
SLOTS(NEIGHBOR_ALLTOALL, neighbor_alltoall, BLOCKS, describe_blocks)

#define ALLGATHERV_PARAMETERS                                                                                \
    const void *send, int send_count, struct ompi_datatype_t *send_datatype, void *recv,                     \
        const int *recv_counts, const int *displacements, struct ompi_datatype_t *recv_datatype,             \
        struct ompi_communicator_t *communicator
#define ALLGATHERV_ARGUMENTS                                                                                 \
    send, send_count, send_datatype, recv, recv_counts, displacements, recv_datatype, communicator

static void describe_allgatherv(description *described, ALLGATHERV_PARAMETERS)
{
    if (is_given(described, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    set_varying_receive(described, recv, recv_counts, displacements, recv_datatype);
}

SLOTS(ALLGATHERV, allgatherv, ALLGATHERV, describe_allgatherv)
SLOTS(NEIGHBOR_ALLGATHERV, neighbor_allgatherv, ALLGATHERV, describe_allgatherv)

#define ALLTOALLV_PARAMETERS                                                                                 \
    const void *send, const int *send_counts, const int *send_displacements,                                 \
        struct ompi_datatype_t *send_datatype, void *recv, const int *recv_counts,                           \
        const int *recv_displacements, struct ompi_datatype_t *recv_datatype,                                \
        struct ompi_communicator_t *communicator
#define ALLTOALLV_ARGUMENTS                                                                                  \
    send, send_counts, send_displacements, send_datatype, recv, recv_counts, recv_displacements,             \
        recv_datatype, communicator

static void describe_alltoallv(description *described, ALLTOALLV_PARAMETERS)
{
    if (is_given(described, send)) {
        set_varying_send(described, send, send_counts, send_displacements, send_datatype);
    }
    set_varying_receive(described, recv, recv_counts, recv_displacements, recv_datatype);
}

SLOTS(ALLTOALLV, alltoallv, ALLTOALLV, describe_alltoallv)
SLOTS(NEIGHBOR_ALLTOALLV, neighbor_alltoallv, ALLTOALLV, describe_alltoallv)

#define ALLTOALLW_PARAMETERS                                                                                 \
    const void *send, const int *send_counts, const int *send_displacements,                                 \
        struct ompi_datatype_t *const *send_datatypes, void *recv, const int *recv_counts,                   \
        const int *recv_displacements, struct ompi_datatype_t *const *recv_datatypes,                        \
        struct ompi_communicator_t *communicator
#define ALLTOALLW_ARGUMENTS                                                                                  \
    send, send_counts, send_displacements, send_datatypes, recv, recv_counts, recv_displacements,            \
        recv_datatypes, communicator

static void describe_alltoallw(description *described, ALLTOALLW_PARAMETERS)
{
    rustcoll_call *call = &described->call;
    if (is_given(described, send)) {
        set_separate(&call->send, send, send_counts, (rustcoll_numbers) {send_displacements, 0}, send_datatypes);
    }
    set_separate(&call->recv, recv, recv_counts, (rustcoll_numbers) {recv_displacements, 0}, recv_datatypes);
}

SLOTS(ALLTOALLW, alltoallw, ALLTOALLW, describe_alltoallw)

#define NEIGHBOR_ALLTOALLW_PARAMETERS                                                                        \
    const void *send, const int *send_counts, const MPI_Aint *send_displacements,                            \
        struct ompi_datatype_t *const *send_datatypes, void *recv, const int *recv_counts,                   \
        const MPI_Aint *recv_displacements, struct ompi_datatype_t *const *recv_datatypes,                   \
        struct ompi_communicator_t *communicator
#define NEIGHBOR_ALLTOALLW_ARGUMENTS ALLTOALLW_ARGUMENTS

static void describe_neighbor_alltoallw(description *described, NEIGHBOR_ALLTOALLW_PARAMETERS)
{
    rustcoll_call *call = &described->call;
    set_separate(&call->send, send, send_counts, (rustcoll_numbers) {send_displacements, 1}, send_datatypes);
    set_separate(&call->recv, recv, recv_counts, (rustcoll_numbers) {recv_displacements, 1}, recv_datatypes);
}

SLOTS(NEIGHBOR_ALLTOALLW, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, describe_neighbor_alltoallw)

#define BARRIER_PARAMETERS struct ompi_communicator_t *communicator
#define BARRIER_ARGUMENTS communicator

static void describe_barrier(description *described, BARRIER_PARAMETERS) {}

SLOTS(BARRIER, barrier, BARRIER, describe_barrier)

#define BCAST_PARAMETERS                                                                                     \
    void *buffer, int count, struct ompi_datatype_t *datatype, int root, struct ompi_communicator_t *communicator
#define BCAST_ARGUMENTS buffer, count, datatype, root, communicator

static void describe_bcast(description *described, BCAST_PARAMETERS)
{
    if (describe_root(described, root, communicator)) {
        set_receive(described, buffer, count, datatype);
    }
}

SLOTS(BCAST, bcast, BCAST, describe_bcast)

#define REDUCTION_PARAMETERS                                                                                 \
    const void *send, void *recv, int count, struct ompi_datatype_t *datatype, struct ompi_op_t *operator_,  \
        struct ompi_communicator_t *communicator
#define REDUCTION_ARGUMENTS send, recv, count, datatype, operator_, communicator

static void describe_reduction(description *described, REDUCTION_PARAMETERS)
{
    const rustcoll_datatype *type = describe_datatype(datatype, &described->recv_datatype);
    describe_operator(described, operator_);
    if (is_given(described, send)) {
        set_uniform(&described->call.send, send, count, type);
    }
    set_uniform(&described->call.recv, recv, count, type);
}

SLOTS(ALLREDUCE, allreduce, REDUCTION, describe_reduction)
SLOTS(EXSCAN, exscan, REDUCTION, describe_reduction)
SLOTS(REDUCE_SCATTER_BLOCK, reduce_scatter_block, REDUCTION, describe_reduction)
SLOTS(SCAN, scan, REDUCTION, describe_reduction)

#define REDUCE_SCATTER_PARAMETERS                                                                            \
    const void *send, void *recv, const int *recv_counts, struct ompi_datatype_t *datatype,                  \
        struct ompi_op_t *operator_, struct ompi_communicator_t *communicator
#define REDUCE_SCATTER_ARGUMENTS send, recv, recv_counts, datatype, operator_, communicator

static void describe_reduce_scatter(description *described, REDUCE_SCATTER_PARAMETERS)
{
    rustcoll_call *call = &described->call;
    const rustcoll_datatype *type = describe_datatype(datatype, &described->recv_datatype);
    describe_operator(described, operator_);
    if (is_given(described, send)) {
        set_uniform(&call->send, send, 0, type);
    }
    set_uniform(&call->recv, recv, recv_counts[ompi_comm_rank(communicator)], type);
    call->recv.counts.values = recv_counts;
}

SLOTS(REDUCE_SCATTER, reduce_scatter, REDUCE_SCATTER, describe_reduce_scatter)

#define REDUCE_PARAMETERS                                                                                    \
    const void *send, void *recv, int count, struct ompi_datatype_t *datatype, struct ompi_op_t *operator_,  \
        int root, struct ompi_communicator_t *communicator
#define REDUCE_ARGUMENTS send, recv, count, datatype, operator_, root, communicator

static void describe_reduce(description *described, REDUCE_PARAMETERS)
{
    const int has = describe_root(described, root, communicator);
    const rustcoll_datatype *type = has ? describe_datatype(datatype, &described->recv_datatype) : NULL;
    describe_operator(described, operator_);
    if (is_given_by_each(described, has, send)) {
        set_uniform(&described->call.send, send, count, type);
    }
    if (OF_ROOT & has) {
        set_uniform(&described->call.recv, recv, count, type);
    }
}

SLOTS(REDUCE, reduce, REDUCE, describe_reduce)

#define ROOTED_BLOCKS_PARAMETERS                                                                             \
    const void *send, int send_count, struct ompi_datatype_t *send_datatype, void *recv, int recv_count,     \
        struct ompi_datatype_t *recv_datatype, int root, struct ompi_communicator_t *communicator
#define ROOTED_BLOCKS_ARGUMENTS                                                                              \
    send, send_count, send_datatype, recv, recv_count, recv_datatype, root, communicator

static void describe_gather(description *described, ROOTED_BLOCKS_PARAMETERS)
{
    const int has = describe_root(described, root, communicator);
    if (is_given_by_each(described, has, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    if (OF_ROOT & has) {
        set_receive(described, recv, recv_count, recv_datatype);
    }
}

static void describe_scatter(description *described, ROOTED_BLOCKS_PARAMETERS)
{
    const int has = describe_root(described, root, communicator);
    if (is_given_by_each(described, has, recv)) {
        set_receive(described, recv, recv_count, recv_datatype);
    }
    if (OF_ROOT & has) {
        set_send(described, send, send_count, send_datatype);
    }
}

SLOTS(GATHER, gather, ROOTED_BLOCKS, describe_gather)
SLOTS(SCATTER, scatter, ROOTED_BLOCKS, describe_scatter)

#define GATHERV_PARAMETERS                                                                                   \
    const void *send, int send_count, struct ompi_datatype_t *send_datatype, void *recv,                     \
        const int *recv_counts, const int *displacements, struct ompi_datatype_t *recv_datatype, int root,   \
        struct ompi_communicator_t *communicator
#define GATHERV_ARGUMENTS                                                                                    \
    send, send_count, send_datatype, recv, recv_counts, displacements, recv_datatype, root, communicator

static void describe_gatherv(description *described, GATHERV_PARAMETERS)
{
    const int has = describe_root(described, root, communicator);
    if (is_given_by_each(described, has, send)) {
        set_send(described, send, send_count, send_datatype);
    }
    if (OF_ROOT & has) {
        set_varying_receive(described, recv, recv_counts, displacements, recv_datatype);
    }
}

SLOTS(GATHERV, gatherv, GATHERV, describe_gatherv)

#define SCATTERV_PARAMETERS                                                                                  \
    const void *send, const int *send_counts, const int *displacements,                                      \
        struct ompi_datatype_t *send_datatype, void *recv, int recv_count,                                   \
        struct ompi_datatype_t *recv_datatype, int root, struct ompi_communicator_t *communicator
#define SCATTERV_ARGUMENTS                                                                                   \
    send, send_counts, displacements, send_datatype, recv, recv_count, recv_datatype, root, communicator

static void describe_scatterv(description *described, SCATTERV_PARAMETERS)
{
    const int has = describe_root(described, root, communicator);
    if (is_given_by_each(described, has, recv)) {
        set_receive(described, recv, recv_count, recv_datatype);
    }
    if (OF_ROOT & has) {
        set_varying_send(described, send, send_counts, displacements, send_datatype);
    }
}

SLOTS(SCATTERV, scatterv, SCATTERV, describe_scatterv)

static int reduce_local(const void *source, void *target, int count, struct ompi_datatype_t *datatype,
                        struct ompi_op_t *operator_, mca_coll_base_module_t *super)
{
    ompi_op_reduce(operator_, (void *) source, target, (size_t) count, datatype);
    return MPI_SUCCESS;
}

void rustcoll_fill_slots(mca_coll_base_module_t *module, int is_inter)
{
#define FILL(number, name)                                                                                   \
    module->coll_##name = blocking_##name;                                                                   \
    module->coll_i##name = nonblocking_##name;                                                               \
    module->coll_##name##_init = persistent_##name;
    RUSTCOLL_EACH(FILL)
#undef FILL
    module->coll_reduce_local = reduce_local;
    if (is_inter) {
        /* MPI has no prefix reductions between groups. */
        module->coll_scan = NULL;
        module->coll_iscan = NULL;
        module->coll_scan_init = NULL;
        module->coll_exscan = NULL;
        module->coll_iexscan = NULL;
        module->coll_exscan_init = NULL;
    }
}
