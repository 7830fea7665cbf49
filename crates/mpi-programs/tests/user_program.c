/* A user's program that knows nothing of the component. It makes and checks collectives with several counts.
 * The first argument is the root of the broadcasts. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "same_bits.h"
#include "verdict.h"

static int rank, size, wrong;

static void expect(long got, long wanted)
{
    wrong += got != wanted;
}

static void test_allreduce(int count)
{
    long *mine = malloc((size_t) count * sizeof *mine), *sums = malloc((size_t) count * sizeof *sums);
    for (int i = 0; i < count; i++) {
        mine[i] = (long) rank * count + i;
    }
    MPI_Allreduce(mine, sums, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect(sums[i], (long) size * (size - 1) / 2 * count + (long) size * i);
    }
    MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect(mine[i], (long) (size - 1) * count + i);
    }
    free(mine);
    free(sums);
}

static void test_alltoall(int count)
{
    size_t elements = (size_t) size * (size_t) count;
    int *sent = malloc(elements * sizeof *sent), *received = malloc(elements * sizeof *received);
    for (size_t i = 0; i < elements; i++) {
        sent[i] = rank * 1000000 + (int) i;
    }
    MPI_Alltoall(sent, count, MPI_INT, received, count, MPI_INT, MPI_COMM_WORLD);
    for (size_t i = 0; i < elements; i++) {
        int source = (int) i / count;
        expect(received[i], source * 1000000 + rank * count + (int) i % count);
    }
    free(sent);
    free(received);
}

static void test_bcast(int count, int root)
{
    double *vector = malloc((size_t) count * sizeof *vector);
    for (int i = 0; i < count; i++) {
        vector[i] = rank == root ? i * 0.5 : -1;
    }
    MPI_Bcast(vector, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect((long) (2 * vector[i]), i);
    }
    free(vector);
}

static void keep_left(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        /* The left projection: associative, and not commutative. */
        ((int *) right)[i] = ((int *) left)[i];
    }
}

static void test_order(MPI_Comm communicator)
{
    int mine = rank + 7, first = 0;
    MPI_Op left;
    MPI_Op_create(keep_left, 0, &left);
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(&mine, &first, 1, MPI_INT, left, communicator);
        expect(first, 7);
        MPI_Request request;
        first = 0;
        MPI_Iallreduce(&mine, &first, 1, MPI_INT, left, communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(first, 7);
    }
    MPI_Op_free(&left);
}

/* Makes one of the five neighbourhood collectives in one of three forms, with three neighbours. Received
 * block i comes from rank ranks[i], where its number is blocks[i]. */
static void test_neighbours(MPI_Comm communicator, int call, const int ranks[3], const int blocks[3])
{
    int sent[15], received[15], counts[] = {5, 5, 5}, places[] = {0, 5, 10};
    MPI_Aint offsets[] = {0, 5 * sizeof(int), 10 * sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 15; i++) {
        sent[i] = rank * 100 + i;
        received[i] = -1;
    }
    switch (call) {
    case 0: MPI_Neighbor_allgather(sent, 5, MPI_INT, received, 5, MPI_INT, communicator); break;
    case 1: MPI_Ineighbor_allgather(sent, 5, MPI_INT, received, 5, MPI_INT, communicator, &request); break;
    case 2:
        MPIX_Neighbor_allgather_init(sent, 5, MPI_INT,
                                     received, 5, MPI_INT, communicator, MPI_INFO_NULL, &request);
        break;
    case 3: MPI_Neighbor_allgatherv(sent, 5, MPI_INT, received, counts, places, MPI_INT, communicator); break;
    case 4:
        MPI_Ineighbor_allgatherv(sent, 5, MPI_INT, received, counts, places, MPI_INT, communicator, &request);
        break;
    case 5:
        MPIX_Neighbor_allgatherv_init(sent, 5, MPI_INT,
                                      received, counts, places, MPI_INT, communicator, MPI_INFO_NULL, &request);
        break;
    case 6: MPI_Neighbor_alltoall(sent, 5, MPI_INT, received, 5, MPI_INT, communicator); break;
    case 7: MPI_Ineighbor_alltoall(sent, 5, MPI_INT, received, 5, MPI_INT, communicator, &request); break;
    case 8:
        MPIX_Neighbor_alltoall_init(sent, 5, MPI_INT, received, 5, MPI_INT, communicator, MPI_INFO_NULL, &request);
        break;
    case 9:
        MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, communicator);
        break;
    case 10:
        MPI_Ineighbor_alltoallv(sent, counts, places, MPI_INT,
                                received, counts, places, MPI_INT, communicator, &request);
        break;
    case 11:
        MPIX_Neighbor_alltoallv_init(sent, counts, places, MPI_INT,
                                     received, counts, places, MPI_INT, communicator, MPI_INFO_NULL, &request);
        break;
    case 12:
        MPI_Neighbor_alltoallw(sent, counts, offsets, types, received, counts, offsets, types, communicator);
        break;
    case 13:
        MPI_Ineighbor_alltoallw(sent, counts, offsets, types,
                                received, counts, offsets, types, communicator, &request);
        break;
    case 14:
        MPIX_Neighbor_alltoallw_init(sent, counts, offsets, types,
                                     received, counts, offsets, types, communicator, MPI_INFO_NULL, &request);
        break;
    }
    int is_persistent = 2 == call % 3, is_allgather = call < 6;
    if (is_persistent) {
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (is_persistent) {
        MPI_Request_free(&request);
    }
    for (int i = 0; i < 15; i++) {
        int block = is_allgather ? 0 : blocks[i / 5];
        expect(received[i], ranks[i / 5] * 100 + block * 5 + i % 5);
    }
}

/* Each rank sends to itself and twice to the next rank. The receiver lists these two sources with itself in between. */
static void test_graph(void)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int sources[] = {previous, rank, previous}, destinations[] = {rank, next, next};
    int blocks[] = {1, 0, 2}, alone[] = {0, 1, 2}, weights[] = {1, 1, 1};
    MPI_Comm graph, duplicate;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, weights, 3, destinations, weights, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Comm_dup(graph, &duplicate);
    for (int call = 0; call < 15; call++) {
        test_neighbours(graph, call, sources, 1 == size ? alone : blocks);
        test_neighbours(duplicate, call, sources, 1 == size ? alone : blocks);
    }
    MPI_Comm_free(&graph);
    MPI_Comm_free(&duplicate);
}

/* Data sent upwards arrive from below. Nothing arrives from beyond the ends of a line. */
static void test_line(int is_ring)
{
    int sent[] = {2 * rank, 2 * rank + 1}, received[] = {-1, -1};
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_ring, 0, &line);
    for (int i = 0; i < 3; i++) {
        MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, line);
        expect(received[0], 0 == rank && !is_ring ? -1 : 2 * ((rank + size - 1) % size) + 1);
        expect(received[1], size - 1 == rank && !is_ring ? -1 : 2 * ((rank + 1) % size));
    }
    MPI_Comm_free(&line);
}

/* Graphs with missing neighbours. Open MPI allows them, but its own collectives only if they do not block. */
static void test_missing_neighbours(void)
{
    int sent[] = {2 * rank, 2 * rank + 1}, received[] = {-1, -1}, weights[] = {1, 1};
    int sources[] = {MPI_PROC_NULL, (rank + size - 1) % size}, destinations[] = {(rank + 1) % size, MPI_PROC_NULL};
    MPI_Comm graph;
    MPI_Request request;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 2, destinations, weights, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, graph, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(received[0], -1);
    expect(received[1], 2 * sources[1]);
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int root = argc > 1 ? atoi(argv[1]) : 0;
    int counts[] = {1, 10, 1000, 50000};
    for (int i = 0; i < 4; i++) {
        test_allreduce(counts[i]);
        test_alltoall(counts[i] / 10 + 1);
        test_bcast(counts[i], root);
        wrong += different_bits(counts[i], MPI_MAX) + different_bits(counts[i], MPI_MIN) + different_bits(counts[i], MPI_SUM);
    }
    MPI_Comm duplicate;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    test_order(MPI_COMM_WORLD);
    test_order(duplicate);
    MPI_Comm_free(&duplicate);
    test_graph();
    test_line(0);
    test_line(1);
    test_missing_neighbours();
    return verdict(wrong);
}
