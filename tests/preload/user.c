/* A program that knows nothing of rustcoll: blocking collectives on several communicators, with derived
 * datatypes and in place; non-blocking and persistent ones; and messages while collectives are in flight. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, wrong;

static void check(int is_right, const char *what)
{
    if (!is_right) {
        printf("rank %d: %s is wrong\n", rank, what);
        wrong = 1;
    }
}

static int sum_of_ranks(void) { return size * (size - 1) / 2; }

static void blocking(void)
{
    int own = rank, sum = 0, all[64], sent[64], received[64];
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum_of_ranks() == sum, "allreduce");
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum_of_ranks() == own, "allreduce in place");
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        check(i == all[i], "allgather");
        sent[i] = 100 * rank + i;
    }
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        check(100 * i + rank == received[i], "alltoall");
    }
}

static void every_other_element(void)
{
    MPI_Datatype spaced;
    int data[20];
    MPI_Type_vector(10, 1, 2, MPI_INT, &spaced);
    MPI_Type_commit(&spaced);
    for (int i = 0; i < 20; i++) {
        data[i] = 0 == rank ? i : -1;
    }
    MPI_Bcast(data, 1, spaced, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        check(data[i] == (0 == i % 2 || 0 == rank ? i : -1), "bcast of every other element");
    }
    MPI_Type_free(&spaced);
}

/* Of datatypes that are made with large counts, MPI tells nothing by functions without them. */
static void large_counts(void)
{
#if MPI_VERSION >= 4
    MPI_Datatype pair, spaced;
    int data[8];
    MPI_Type_contiguous_c(2, MPI_INT, &pair);
    MPI_Type_vector_c(2, 1, 2, pair, &spaced);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&spaced);
    for (int i = 0; i < 8; i++) {
        data[i] = 0 == rank ? i : -1;
    }
    MPI_Bcast(data, 1, pair, 0, MPI_COMM_WORLD);
    MPI_Bcast(data + 2, 1, spaced, 0, MPI_COMM_WORLD);
    /* The vector from element 2 on leaves out elements 4 and 5. */
    for (int i = 0; i < 8; i++) {
        const int is_sent = 4 != i && 5 != i;
        check(data[i] == (is_sent || 0 == rank ? i : -1), "bcast of datatypes with large counts");
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&spaced);
#endif
}

static void parts(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int members, in_half;
    MPI_Comm_size(half, &members);
    int one = 1;
    MPI_Reduce(&one, &in_half, 1, MPI_INT, MPI_SUM, 0, half);
    int rank_in_half;
    MPI_Comm_rank(half, &rank_in_half);
    check(0 != rank_in_half || members == in_half, "reduce in a part");
    MPI_Barrier(half);
    MPI_Comm_free(&half);
}

/* While a rank waits for a message of another rank, its part of a collective must go on. */
static void under_way(void)
{
    int value = 0 == rank ? 42 : 0, token = 0;
    MPI_Request request;
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank != size - 1) {
        MPI_Recv(&token, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int peer = 0; peer < size - 1; peer++) {
            MPI_Send(&value, 1, MPI_INT, peer, 7, MPI_COMM_WORLD);
        }
    }
    check(42 == value, "bcast that does not block");
    int own = rank, sum = 0;
    MPI_Request both[2];
    MPI_Status statuses[2];
    MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &both[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &both[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2, both, statuses);
    check(sum_of_ranks() == sum, "allreduce that does not block");
}

static void persistent(void)
{
#if MPI_VERSION >= 4
    int value;
    MPI_Request request;
    MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; i++) {
        value = 0 == rank ? i : -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(i == value, "persistent bcast");
    }
    MPI_Request_free(&request);
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    blocking();
    every_other_element();
    large_counts();
    parts();
    under_way();
    persistent();
    MPI_Reduce(0 == rank ? MPI_IN_PLACE : &wrong, &wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (0 == rank && !wrong) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return wrong;
}
