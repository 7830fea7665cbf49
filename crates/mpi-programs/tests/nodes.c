/* A user's program whose ranks pretend to be on several nodes. Broadcasts from every root must be right: blocking,
 * non-blocking, and of data with gaps. So must other collectives. The first argument is the number of ranks on a node, the second that on the
 * first node, if it has more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pretended_nodes.h"
#include "verdict.h"

#define COUNT 5000

static int rank, size, wrong;

static void expect(long got, long wanted)
{
    wrong += got != wanted;
}

static void broadcast(int root, int stride, int is_blocking)
{
    static int vector[COUNT * 2];
    MPI_Datatype type;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Type_vector(COUNT, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    memset(vector, 0, sizeof vector);
    for (int i = 0; rank == root && i < COUNT; i++) {
        vector[i * stride] = root * COUNT + i + 1;
    }
    if (is_blocking) {
        MPI_Bcast(vector, 1, type, root, MPI_COMM_WORLD);
    } else {
        MPI_Ibcast(vector, 1, type, root, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++) {
        expect(vector[i * stride], root * COUNT + i + 1);
    }
    MPI_Type_free(&type);
}

/* Rank r contributes r + i to element i of a vector, so the sum is known. */
static long sum(int element)
{
    return (long) size * (size - 1) / 2 + (long) size * element;
}

static void reductions(int count)
{
    static int given[COUNT], result[COUNT];
    for (int i = 0; i < count; i++) {
        given[i] = rank + i;
    }
    MPI_Allreduce(given, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect(result[i], sum(i));
    }
    MPI_Allreduce(MPI_IN_PLACE, given, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect(given[i], sum(i));
        given[i] = rank + i;
    }
    for (int root = 0; root < size; root++) {
        MPI_Reduce(given, result, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < count; i++) {
            expect(result[i], sum(i));
        }
    }
    int block = count / size;
    MPI_Reduce_scatter_block(given, result, block, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < block; i++) {
        expect(result[i], sum(rank * block + i));
    }
}

static void movements(int block)
{
    static int given[COUNT], result[COUNT];
    for (int i = 0; i < size * block; i++) {
        given[i] = rank * COUNT + i;
    }
    MPI_Allgather(given, block, MPI_INT, result, block, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * block; i++) {
        expect(result[i], i / block * COUNT + i % block);
    }
    MPI_Alltoall(given, block, MPI_INT, result, block, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * block; i++) {
        expect(result[i], i / block * COUNT + rank * block + i % block);
    }
    MPI_Alltoall(MPI_IN_PLACE, block, MPI_INT, given, block, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * block; i++) {
        expect(given[i], result[i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks_on_node = argc > 1 ? atoi(argv[1]) : 1;
    ranks_on_first_node = argc > 2 ? atoi(argv[2]) : 0;
    for (int is_blocking = 0; is_blocking < 2; is_blocking++) {
        for (int root = 0; root < size; root++) {
            broadcast(root, 1, is_blocking);
            /* The same call again, which uses the previous call's plan. */
            broadcast(root, 1, is_blocking);
            broadcast(root, 2, is_blocking);
        }
    }
    broadcast(size - 1, 1, 0);
    reductions(3);
    reductions(COUNT);
    movements(1);
    movements(COUNT / size);
    return verdict(wrong);
}
