/* Calls collectives with random arguments. Before each call, rank 0 describes it on stderr, where the component also
 * logs. The description consists of options of `rustcoll rules explain`. The results must be right. Arguments: number of calls, seed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

enum { MOST_RANKS = 16, MOST_BYTES = 1 << 18 };

enum collective { ALLGATHER, ALLGATHERV, ALLREDUCE, ALLTOALL, BARRIER, BCAST, EXSCAN, GATHER, REDUCE, REDUCE_SCATTER,
                  REDUCE_SCATTER_BLOCK, SCAN, SCATTER, COLLECTIVES };

static const char *const names[] = {"allgather", "allgatherv", "allreduce", "alltoall", "barrier", "bcast", "exscan",
                                    "gather", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter"};

typedef struct call {
    enum collective collective;
    int count, root, is_in_place;
    MPI_Op operator_;
} call;

static unsigned random_state;
static unsigned char sent[MOST_RANKS * MOST_BYTES], received[MOST_RANKS * MOST_BYTES];
static MPI_Op ordered, commutative;

static int below(int bound) { return rand_r(&random_state) % bound; }

static void combine(void *left, void *right, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++) {
        ((unsigned char *) right)[i] |= ((unsigned char *) left)[i];
    }
}

static int reduces(enum collective one)
{
    return ALLREDUCE == one || EXSCAN == one || REDUCE == one || REDUCE_SCATTER == one || REDUCE_SCATTER_BLOCK == one
           || SCAN == one;
}

static int has_root(enum collective one) { return BCAST == one || GATHER == one || REDUCE == one || SCATTER == one; }

/* Collectives in which either all ranks pass MPI_IN_PLACE, or none does. */
static int may_be_in_place(enum collective one) { return ALLGATHER == one || ALLREDUCE == one || ALLTOALL == one; }

/* Near powers of two, where conditions of rules have their bounds. */
static int random_count(void) { return (1 << below(18)) + below(3); }

static call random_call(int size)
{
    const MPI_Op operators[] = {MPI_BOR, commutative, ordered};
    call made = {.collective = below(COLLECTIVES), .count = random_count(), .root = below(size)};
    made.is_in_place = may_be_in_place(made.collective) && below(2);
    made.operator_ = operators[below(3)];
    return made;
}

/* Byte i of what one rank gives another, or to all. */
static unsigned char given(int from, int to, int i)
{
    unsigned mixed = ((unsigned) (from * MOST_RANKS + to) * 0x9e3779b1u + (unsigned) i) * 0x85ebca6bu;
    mixed ^= mixed >> 13;
    return (unsigned char) ((mixed * 0xc2b2ae35u) >> 24);
}

/* Of eight ranks, most bits are set by none or one. */
static unsigned char operand(int from, int to, int i)
{
    return given(from, to, i) & given(from, to, ~i) & given(from, to + MOST_RANKS, i);
}

/* Whether a rank has another block for each rank. */
static int gives_blocks(enum collective one)
{
    return ALLTOALL == one || REDUCE_SCATTER == one || REDUCE_SCATTER_BLOCK == one || SCATTER == one;
}

static void fill(const call *made, int rank, int size)
{
    const int count = made->count, gathers_in_place = made->is_in_place && ALLGATHER == made->collective;
    unsigned char *const input = made->is_in_place ? received : sent;
    memset(received, 0, (size_t) size * count);
    for (int to = 0; to < (gives_blocks(made->collective) ? size : 1); to++) {
        unsigned char *const block = input + (size_t) (gathers_in_place ? rank : to) * count;
        for (int i = 0; i < count; i++) {
            block[i] = reduces(made->collective) ? operand(rank, to, i) : given(rank, to, i);
        }
    }
    if (BCAST == made->collective && rank == made->root) {
        memcpy(received, sent, count);
    }
}

/* Byte i of what a rank gets from another. */
static unsigned char moved(const call *made, int rank, int from, int i)
{
    return given(from, gives_blocks(made->collective) ? rank : 0, i);
}

/* Byte i of the reduction that a rank gets. */
static unsigned char reduced(const call *made, int rank, int size, int i)
{
    const int end = SCAN == made->collective ? rank + 1 : EXSCAN == made->collective ? rank : size;
    unsigned char all = 0;
    for (int from = 0; from < end; from++) {
        all |= operand(from, gives_blocks(made->collective) ? rank : 0, i);
    }
    return all;
}

/* Whether the call writes what this rank receives. */
static int has_result(const call *made, int rank)
{
    const int is_at_root = GATHER == made->collective || REDUCE == made->collective;
    return BARRIER != made->collective && (!is_at_root || rank == made->root) && (EXSCAN != made->collective || 0 < rank);
}

static int faults(const call *made, int rank, int size)
{
    const int gathers = ALLGATHER == made->collective || ALLGATHERV == made->collective || GATHER == made->collective
                        || ALLTOALL == made->collective;
    int wrong = 0;
    for (int from = 0; from < (gathers ? size : 1); from++) {
        const unsigned char *const block = received + (size_t) from * made->count;
        for (int i = 0; i < made->count; i++) {
            const unsigned char expected = reduces(made->collective) ? reduced(made, rank, size, i)
                                                                      : moved(made, rank, gathers ? from : made->root, i);
            wrong += block[i] != expected;
        }
    }
    return has_result(made, rank) ? wrong : 0;
}

static void announce(const call *made, int size)
{
    const int is_total = ALLGATHERV == made->collective || REDUCE_SCATTER == made->collective;
    fprintf(stderr, "problem: --collective %s --ranks %d --nodes 1 --ranks-per-node %d", names[made->collective], size,
            size);
    if (BARRIER != made->collective) {
        fprintf(stderr, " --bytes %d", made->count * (is_total ? size : 1));
    }
    if (has_root(made->collective)) {
        fprintf(stderr, " --root %d", made->root);
    }
    if (made->is_in_place) {
        fprintf(stderr, " --in-place");
    }
    if (reduces(made->collective)) {
        fprintf(stderr, " --predefined=%s%s", MPI_BOR == made->operator_ ? "true" : "false",
                ordered == made->operator_ ? " --not-commutative" : "");
    }
    fprintf(stderr, "\n");
}

static void run(const call *made, int size, MPI_Comm communicator)
{
    const void *input = made->is_in_place ? MPI_IN_PLACE : sent;
    const int count = made->count;
    int counts[MOST_RANKS], displacements[MOST_RANKS];
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        displacements[i] = i * count;
    }
    switch (made->collective) {
    case ALLGATHER:
        MPI_Allgather(input, count, MPI_BYTE, received, count, MPI_BYTE, communicator);
        break;
    case ALLGATHERV:
        MPI_Allgatherv(input, count, MPI_BYTE, received, counts, displacements, MPI_BYTE, communicator);
        break;
    case ALLREDUCE:
        MPI_Allreduce(input, received, count, MPI_BYTE, made->operator_, communicator);
        break;
    case ALLTOALL:
        MPI_Alltoall(input, count, MPI_BYTE, received, count, MPI_BYTE, communicator);
        break;
    case BARRIER:
        MPI_Barrier(communicator);
        break;
    case BCAST:
        MPI_Bcast(received, count, MPI_BYTE, made->root, communicator);
        break;
    case EXSCAN:
        MPI_Exscan(input, received, count, MPI_BYTE, made->operator_, communicator);
        break;
    case GATHER:
        MPI_Gather(input, count, MPI_BYTE, received, count, MPI_BYTE, made->root, communicator);
        break;
    case REDUCE:
        MPI_Reduce(input, received, count, MPI_BYTE, made->operator_, made->root, communicator);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter(input, received, counts, MPI_BYTE, made->operator_, communicator);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(input, received, count, MPI_BYTE, made->operator_, communicator);
        break;
    case SCAN:
        MPI_Scan(input, received, count, MPI_BYTE, made->operator_, communicator);
        break;
    default:
        MPI_Scatter(input, count, MPI_BYTE, received, count, MPI_BYTE, made->root, communicator);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Comm communicators[MOST_RANKS + 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    setvbuf(stderr, NULL, _IOLBF, 0); /* keeps lines whole between those of the log */
    const int calls = atoi(argv[1]);
    random_state = (unsigned) atoi(argv[2]);
    MPI_Op_create(combine, 1, &commutative);
    MPI_Op_create(combine, 0, &ordered);
    for (int size = 2; size <= ranks; size++) {
        MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &communicators[size]);
    }
    for (int i = 0; i < calls; i++) {
        const int size = 2 + below(ranks - 1);
        const call made = random_call(size);
        if (0 == rank) {
            announce(&made, size);
        }
        if (rank < size) {
            fill(&made, rank, size);
            run(&made, size, communicators[size]);
            wrong += faults(&made, rank, size);
        }
    }
    return verdict(wrong);
}
