/* For user programs that call all collectives: blocking, nonblocking and persistent, on one group, on two
 * groups, and among neighbours. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum collective {
    ALLGATHER,
    ALLGATHERV,
    ALLREDUCE,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    BCAST,
    EXSCAN,
    GATHER,
    GATHERV,
    NEIGHBOR_ALLGATHER,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    SCATTER,
    SCATTERV,
    COLLECTIVES
};

static const char *const names[] = {
    "allgather",           "allgatherv",        "allreduce",          "alltoall",           "alltoallv", "alltoallw",
    "bcast",               "exscan",            "gather",             "gatherv",            "neighbor_allgather",
    "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw", "reduce",
    "reduce_scatter",      "reduce_scatter_block", "scan",            "scatter",            "scatterv"};

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static const char *const forms[] = {"blocking", "nonblocking", "persistent"};

enum kind { ONE_GROUP, TWO_GROUPS, NEIGHBOURS, KINDS };

static const char *const kinds[] = {"one group", "two groups", "neighbours"};

/* Room for every rank's count. */
enum { MOST_RANKS = 16 };

static int rank, size;

/* For the test's own messages, such as the results. */
static MPI_Comm talk;

typedef struct arguments {
    void *send, *recv;
    int send_count, recv_count;
    MPI_Datatype send_type, recv_type;
    MPI_Op operator_;
    int root;
} arguments;

/* The arguments of calls with arrays: equal counts, consecutive displacements. */
typedef struct arrays {
    int counts[MOST_RANKS], displacements[MOST_RANKS], bytes[MOST_RANKS];
    MPI_Aint wide[MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
} arrays;

static inline void fill(arrays *filled, int count, MPI_Datatype type)
{
    for (int i = 0; i < MOST_RANKS; i++) {
        filled->counts[i] = count;
        filled->displacements[i] = i * count;
        filled->bytes[i] = i * count * (int) sizeof(int);
        filled->wide[i] = filled->bytes[i];
        filled->types[i] = type;
    }
}

/* One collective in its three forms. They differ only in their names and last arguments. */
#define CALL(name, letter, ...)                                                                              \
    (BLOCKING == form      ? MPI_##name(__VA_ARGS__)                                                         \
     : NONBLOCKING == form ? MPI_I##letter(__VA_ARGS__, request)                                             \
                           : MPIX_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request))

static inline int begin(enum collective collective, enum form form, const arguments *a, MPI_Comm comm, MPI_Request *request)
{
    /* The arrays must live until the collective ends. */
    static arrays s, r;
    fill(&s, a->send_count, a->send_type);
    fill(&r, a->recv_count, a->recv_type);
    switch (collective) {
    case ALLGATHER:
        return CALL(Allgather, allgather, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                    comm);
    case ALLGATHERV:
        return CALL(Allgatherv, allgatherv, a->send, a->send_count, a->send_type, a->recv, r.counts, r.displacements,
                    a->recv_type, comm);
    case ALLREDUCE:
        return CALL(Allreduce, allreduce, a->send, a->recv, a->recv_count, a->recv_type, a->operator_, comm);
    case ALLTOALL:
        return CALL(Alltoall, alltoall, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                    comm);
    case ALLTOALLV:
        return CALL(Alltoallv, alltoallv, a->send, s.counts, s.displacements, a->send_type, a->recv, r.counts,
                    r.displacements, a->recv_type, comm);
    case ALLTOALLW:
        return CALL(Alltoallw, alltoallw, a->send, s.counts, s.bytes, s.types, a->recv, r.counts, r.bytes, r.types,
                    comm);
    case BCAST:
        return CALL(Bcast, bcast, a->recv, a->recv_count, a->recv_type, a->root, comm);
    case EXSCAN:
        return CALL(Exscan, exscan, a->send, a->recv, a->recv_count, a->recv_type, a->operator_, comm);
    case GATHER:
        return CALL(Gather, gather, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                    a->root, comm);
    case GATHERV:
        return CALL(Gatherv, gatherv, a->send, a->send_count, a->send_type, a->recv, r.counts, r.displacements,
                    a->recv_type, a->root, comm);
    case NEIGHBOR_ALLGATHER:
        return CALL(Neighbor_allgather, neighbor_allgather, a->send, a->send_count, a->send_type, a->recv,
                    a->recv_count, a->recv_type, comm);
    case NEIGHBOR_ALLGATHERV:
        return CALL(Neighbor_allgatherv, neighbor_allgatherv, a->send, a->send_count, a->send_type, a->recv, r.counts,
                    r.displacements, a->recv_type, comm);
    case NEIGHBOR_ALLTOALL:
        return CALL(Neighbor_alltoall, neighbor_alltoall, a->send, a->send_count, a->send_type, a->recv,
                    a->recv_count, a->recv_type, comm);
    case NEIGHBOR_ALLTOALLV:
        return CALL(Neighbor_alltoallv, neighbor_alltoallv, a->send, s.counts, s.displacements, a->send_type, a->recv,
                    r.counts, r.displacements, a->recv_type, comm);
    case NEIGHBOR_ALLTOALLW:
        return CALL(Neighbor_alltoallw, neighbor_alltoallw, a->send, s.counts, s.wide, s.types, a->recv, r.counts,
                    r.wide, r.types, comm);
    case REDUCE:
        return CALL(Reduce, reduce, a->send, a->recv, a->recv_count, a->recv_type, a->operator_, a->root, comm);
    case REDUCE_SCATTER:
        return CALL(Reduce_scatter, reduce_scatter, a->send, a->recv, r.counts, a->recv_type, a->operator_, comm);
    case REDUCE_SCATTER_BLOCK:
        return CALL(Reduce_scatter_block, reduce_scatter_block, a->send, a->recv, a->recv_count, a->recv_type,
                    a->operator_, comm);
    case SCAN:
        return CALL(Scan, scan, a->send, a->recv, a->recv_count, a->recv_type, a->operator_, comm);
    case SCATTER:
        return CALL(Scatter, scatter, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                    a->root, comm);
    case SCATTERV:
        return CALL(Scatterv, scatterv, a->send, s.counts, s.displacements, a->send_type, a->recv, a->recv_count,
                    a->recv_type, a->root, comm);
    default:
        return MPI_ERR_INTERN;
    }
}

/* Completes the collective; returns the class of the first error. */
static inline int run(enum collective collective, enum form form, const arguments *a, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int class = MPI_SUCCESS, error = begin(collective, form, a, comm, &request);
    if (MPI_SUCCESS == error && PERSISTENT == form) {
        error = MPI_Start(&request);
    }
    if (MPI_SUCCESS == error) {
        error = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (PERSISTENT == form && MPI_REQUEST_NULL != request) {
            MPI_Request_free(&request);
        }
    }
    MPI_Error_class(error, &class);
    return class;
}

static inline int is_rooted(enum collective c)
{
    return BCAST == c || GATHER == c || GATHERV == c || REDUCE == c || SCATTER == c || SCATTERV == c;
}

static inline int reduces(enum collective c)
{
    return ALLREDUCE == c || EXSCAN == c || SCAN == c || REDUCE == c || REDUCE_SCATTER == c ||
           REDUCE_SCATTER_BLOCK == c;
}

static inline int is_of(enum collective c, enum kind kind)
{
    if (NEIGHBOR_ALLGATHER <= c && c <= NEIGHBOR_ALLTOALLW) {
        return NEIGHBOURS == kind;
    }
    return ONE_GROUP == kind || (TWO_GROUPS == kind && EXSCAN != c && SCAN != c);
}

/* Number of ranks in the first group, if there are two. */
static inline int first_group(void) { return size / 2; }

static inline MPI_Comm make(enum kind kind)
{
    MPI_Comm made = MPI_COMM_NULL, group;
    const int periodic = 1, is_first = rank < first_group();
    switch (kind) {
    case ONE_GROUP:
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        break;
    case TWO_GROUPS:
        MPI_Comm_split(MPI_COMM_WORLD, is_first, rank, &group);
        MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, is_first ? first_group() : 0, 1, &made);
        MPI_Comm_free(&group);
        break;
    default:
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &made);
    }
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

/* Rank 0 is the root. */
static inline int root_argument(enum kind kind)
{
    if (TWO_GROUPS != kind || rank >= first_group()) {
        return 0;
    }
    return 0 == rank ? MPI_ROOT : MPI_PROC_NULL;
}

static inline void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &talk);
    /* Errors of requests go to the error handler of MPI_COMM_WORLD. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline void end(void)
{
    MPI_Comm_free(&talk);
    MPI_Finalize();
}
