/* The arguments of MPI's collectives, and their neutral form. Each shim defines rustcoll_describe_operator; describe.h
 * has the functions for each collective. */
#ifndef RUSTCOLL_DESCRIPTION_H
#define RUSTCOLL_DESCRIPTION_H

#include <stdint.h>

#include "mpi.h"
#include "shim.h"

/* Handles of MPI are numbers in some implementations and addresses in others; the neutral interface has addresses. */
#define RUSTCOLL_OPAQUE(handle) ((void *) (intptr_t) (handle))

/* The ranks of a communicator, as far as arguments depend on them. */
typedef struct rustcoll_group {
    int rank, size, is_inter;
} rustcoll_group;

/* A call in the neutral form, and what it points to. */
typedef struct rustcoll_description {
    rustcoll_call call;
    rustcoll_datatype send_datatype, recv_datatype;
    rustcoll_operator operator_;
    const rustcoll_group *group;
} rustcoll_description;

/* An array of numbers in the neutral form, and one of its elements. A file with other arrays defines both before. */
#ifndef NUMBERS
#define NUMBERS(array) ((rustcoll_numbers) {(array), _Generic((array), const int *: 0, default: 1)})
#define COUNT_AT(counts, rank) (counts)[rank]
#endif

/* The buffers of a collective with a root: one that the root has, and one that each rank has. */
enum { RUSTCOLL_OF_ROOT = 1, RUSTCOLL_OF_EACH = 2 };

static inline const rustcoll_datatype *describe_datatype(MPI_Datatype datatype, rustcoll_datatype *place)
{
    rustcoll_shim_describe(RUSTCOLL_OPAQUE(datatype), place);
    return place;
}

/* The operator in the neutral form. */
rustcoll_operator rustcoll_describe_operator(MPI_Op operator_);

static inline void describe_operator(rustcoll_description *described, MPI_Op operator_)
{
    described->operator_ = rustcoll_describe_operator(operator_);
    described->call.operator_ = &described->operator_;
}

/* Returns which of the buffers are significant at this rank. On an inter-communicator, the root has only its own
 * buffer, the ranks of the other group have only the other one, and the other ranks of the root's group have none. */
static inline int describe_root(rustcoll_description *described, int root)
{
    const rustcoll_group *group = described->group;
    if (!group->is_inter) {
        described->call.root = root;
        return group->rank == root ? RUSTCOLL_OF_ROOT | RUSTCOLL_OF_EACH : RUSTCOLL_OF_EACH;
    }
    switch (root) {
    case MPI_ROOT:
        described->call.root = group->rank;
        return RUSTCOLL_OF_ROOT;
    case MPI_PROC_NULL:
        /* Some other rank of the group; which one makes no difference to a rank that has nothing to do. */
        described->call.root = (group->rank + 1) % group->size;
        return 0;
    default:
        described->call.root = group->size + root;
        return RUSTCOLL_OF_EACH;
    }
}

/* Sides must be zero before. They are filled in place, because every short call comes through here. */
static inline void set_uniform(rustcoll_side *side, const void *buffer, ptrdiff_t count, const rustcoll_datatype *datatype)
{
    side->buffer = buffer;
    side->count = (size_t) count;
    side->datatype = datatype;
}

static inline void set_varying(rustcoll_side *side, const void *buffer, rustcoll_numbers counts,
                               rustcoll_numbers displacements, const rustcoll_datatype *datatype)
{
    side->buffer = buffer;
    side->datatype = datatype;
    side->counts = counts;
    side->displacements = displacements;
}

static inline void set_separate(rustcoll_side *side, const void *buffer, rustcoll_numbers counts,
                                rustcoll_numbers displacements, MPI_Datatype const *datatypes)
{
    side->buffer = buffer;
    side->counts = counts;
    side->displacements = displacements;
    side->datatypes = (rustcoll_handles) {datatypes, sizeof *datatypes == sizeof(int)};
}

static inline void set_send(rustcoll_description *described, const void *send, ptrdiff_t count, MPI_Datatype datatype)
{
    set_uniform(&described->call.send, send, count, describe_datatype(datatype, &described->send_datatype));
}

static inline void set_receive(rustcoll_description *described, void *recv, ptrdiff_t count, MPI_Datatype datatype)
{
    set_uniform(&described->call.recv, recv, count, describe_datatype(datatype, &described->recv_datatype));
}

static inline void set_varying_send(rustcoll_description *described, const void *send, rustcoll_numbers counts,
                                    rustcoll_numbers displacements, MPI_Datatype datatype)
{
    const rustcoll_datatype *type = describe_datatype(datatype, &described->send_datatype);
    set_varying(&described->call.send, send, counts, displacements, type);
}

static inline void set_varying_receive(rustcoll_description *described, void *recv, rustcoll_numbers counts,
                                       rustcoll_numbers displacements, MPI_Datatype datatype)
{
    const rustcoll_datatype *type = describe_datatype(datatype, &described->recv_datatype);
    set_varying(&described->call.recv, recv, counts, displacements, type);
}

/* Whether a buffer that each rank passes is not MPI_IN_PLACE; sets in_place. */
static inline int is_given(rustcoll_description *described, const void *buffer)
{
    described->call.in_place = MPI_IN_PLACE == buffer;
    return !described->call.in_place;
}

/* Whether this rank passes the buffer that each rank has, in a collective with a root; sets in_place. Only the root may be in place. */
static inline int is_given_by_each(rustcoll_description *described, int has, const void *buffer)
{
    described->call.in_place = (RUSTCOLL_OF_ROOT | RUSTCOLL_OF_EACH) == has && MPI_IN_PLACE == buffer;
    return RUSTCOLL_OF_EACH & has && !described->call.in_place;
}

/* A barrier has no arguments to describe. */
static inline void describe_barrier(rustcoll_description *described, MPI_Comm communicator) {}

/* The parameters of MPI's functions, and the arguments that pass them on. COUNT is the type of a count; COUNTS,
 * DISPLACEMENTS and BYTE_DISPLACEMENTS are types of arrays. */
#define BLOCKS_PARAMETERS                                                                                    \
    const void *send, COUNT send_count, MPI_Datatype send_datatype, void *recv, COUNT recv_count,            \
        MPI_Datatype recv_datatype, MPI_Comm communicator
#define BLOCKS_ARGUMENTS send, send_count, send_datatype, recv, recv_count, recv_datatype, communicator

#define ALLGATHERV_PARAMETERS                                                                                \
    const void *send, COUNT send_count, MPI_Datatype send_datatype, void *recv, COUNTS recv_counts,    \
        DISPLACEMENTS displacements, MPI_Datatype recv_datatype, MPI_Comm communicator
#define ALLGATHERV_ARGUMENTS                                                                                 \
    send, send_count, send_datatype, recv, recv_counts, displacements, recv_datatype, communicator

#define ALLTOALLV_PARAMETERS                                                                                 \
    const void *send, COUNTS send_counts, DISPLACEMENTS send_displacements,                      \
        MPI_Datatype send_datatype, void *recv, COUNTS recv_counts,                                    \
        DISPLACEMENTS recv_displacements, MPI_Datatype recv_datatype, MPI_Comm communicator
#define ALLTOALLV_ARGUMENTS                                                                                  \
    send, send_counts, send_displacements, send_datatype, recv, recv_counts, recv_displacements,             \
        recv_datatype, communicator

#define SEPARATE_PARAMETERS(displacements)                                                                    \
    const void *send, COUNTS send_counts, displacements send_displacements,                      \
        MPI_Datatype const *send_datatypes, void *recv, COUNTS recv_counts,                            \
        displacements recv_displacements, MPI_Datatype const *recv_datatypes, MPI_Comm communicator
#define ALLTOALLW_PARAMETERS SEPARATE_PARAMETERS(DISPLACEMENTS)
#define ALLTOALLW_ARGUMENTS                                                                                  \
    send, send_counts, send_displacements, send_datatypes, recv, recv_counts, recv_displacements,            \
        recv_datatypes, communicator
#define NEIGHBOR_ALLTOALLW_PARAMETERS SEPARATE_PARAMETERS(BYTE_DISPLACEMENTS)
#define NEIGHBOR_ALLTOALLW_ARGUMENTS ALLTOALLW_ARGUMENTS

#define BARRIER_PARAMETERS MPI_Comm communicator
#define BARRIER_ARGUMENTS communicator

#define BCAST_PARAMETERS void *buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm communicator
#define BCAST_ARGUMENTS buffer, count, datatype, root, communicator

#define REDUCTION_PARAMETERS                                                                                 \
    const void *send, void *recv, COUNT count, MPI_Datatype datatype, MPI_Op operator_, MPI_Comm communicator
#define REDUCTION_ARGUMENTS send, recv, count, datatype, operator_, communicator

#define REDUCE_SCATTER_PARAMETERS                                                                            \
    const void *send, void *recv, COUNTS recv_counts, MPI_Datatype datatype, MPI_Op operator_,         \
        MPI_Comm communicator
#define REDUCE_SCATTER_ARGUMENTS send, recv, recv_counts, datatype, operator_, communicator

#define REDUCE_PARAMETERS                                                                                    \
    const void *send, void *recv, COUNT count, MPI_Datatype datatype, MPI_Op operator_, int root,            \
        MPI_Comm communicator
#define REDUCE_ARGUMENTS send, recv, count, datatype, operator_, root, communicator

#define ROOTED_BLOCKS_PARAMETERS                                                                             \
    const void *send, COUNT send_count, MPI_Datatype send_datatype, void *recv, COUNT recv_count,            \
        MPI_Datatype recv_datatype, int root, MPI_Comm communicator
#define ROOTED_BLOCKS_ARGUMENTS                                                                              \
    send, send_count, send_datatype, recv, recv_count, recv_datatype, root, communicator

#define GATHERV_PARAMETERS                                                                                   \
    const void *send, COUNT send_count, MPI_Datatype send_datatype, void *recv, COUNTS recv_counts,    \
        DISPLACEMENTS displacements, MPI_Datatype recv_datatype, int root, MPI_Comm communicator
#define GATHERV_ARGUMENTS                                                                                    \
    send, send_count, send_datatype, recv, recv_counts, displacements, recv_datatype, root, communicator

#define SCATTERV_PARAMETERS                                                                                  \
    const void *send, COUNTS send_counts, DISPLACEMENTS displacements,                           \
        MPI_Datatype send_datatype, void *recv, COUNT recv_count, MPI_Datatype recv_datatype, int root,      \
        MPI_Comm communicator
#define SCATTERV_ARGUMENTS                                                                                   \
    send, send_counts, displacements, send_datatype, recv, recv_count, recv_datatype, root, communicator

/* Applies a macro to each collective: the name of its number, MPI's names, the prefix of its parameters and arguments,
 * and the function that describes it. */
#define RUSTCOLL_EACH(apply)                                                                                 \
    RUSTCOLL_EACH_WITH_COUNTS(apply)                                                                         \
    apply(BARRIER, Barrier, barrier, BARRIER, describe_barrier)

/* As RUSTCOLL_EACH, but without the barrier, which has no counts. */
#define RUSTCOLL_EACH_WITH_COUNTS(apply)                                                                                 \
    apply(ALLGATHER, Allgather, allgather, BLOCKS, describe_blocks)                                          \
    apply(ALLGATHERV, Allgatherv, allgatherv, ALLGATHERV, describe_allgatherv)                               \
    apply(ALLREDUCE, Allreduce, allreduce, REDUCTION, describe_reduction)                                    \
    apply(ALLTOALL, Alltoall, alltoall, BLOCKS, describe_blocks)                                             \
    apply(ALLTOALLV, Alltoallv, alltoallv, ALLTOALLV, describe_alltoallv)                                    \
    apply(ALLTOALLW, Alltoallw, alltoallw, ALLTOALLW, describe_alltoallw)                                    \
    apply(BCAST, Bcast, bcast, BCAST, describe_bcast)                                                        \
    apply(EXSCAN, Exscan, exscan, REDUCTION, describe_reduction)                                             \
    apply(GATHER, Gather, gather, ROOTED_BLOCKS, describe_gather)                                            \
    apply(GATHERV, Gatherv, gatherv, GATHERV, describe_gatherv)                                              \
    apply(NEIGHBOR_ALLGATHER, Neighbor_allgather, neighbor_allgather, BLOCKS, describe_blocks)               \
    apply(NEIGHBOR_ALLGATHERV, Neighbor_allgatherv, neighbor_allgatherv, ALLGATHERV, describe_allgatherv)    \
    apply(NEIGHBOR_ALLTOALL, Neighbor_alltoall, neighbor_alltoall, BLOCKS, describe_blocks)                  \
    apply(NEIGHBOR_ALLTOALLV, Neighbor_alltoallv, neighbor_alltoallv, ALLTOALLV, describe_alltoallv)         \
    apply(NEIGHBOR_ALLTOALLW, Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW,                    \
          describe_neighbor_alltoallw)                                                                       \
    apply(REDUCE, Reduce, reduce, REDUCE, describe_reduce)                                                   \
    apply(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, REDUCE_SCATTER, describe_reduce_scatter)           \
    apply(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, REDUCTION, describe_reduction)   \
    apply(SCAN, Scan, scan, REDUCTION, describe_reduction)                                                   \
    apply(SCATTER, Scatter, scatter, ROOTED_BLOCKS, describe_scatter)                                        \
    apply(SCATTERV, Scatterv, scatterv, SCATTERV, describe_scatterv)

#endif
