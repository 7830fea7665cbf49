/* A user's program whose ranks pretend to be on several nodes. Broadcasts from every root
 * must be right, blocking, not blocking and of gapped data. The first argument is the number of ranks on a node. */
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

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks_on_node = argc > 1 ? atoi(argv[1]) : 1;
    for (int is_blocking = 0; is_blocking < 2; is_blocking++) {
        for (int root = 0; root < size; root++) {
            broadcast(root, 1, is_blocking);
            /* Once more: the last call is repeated. */
            broadcast(root, 1, is_blocking);
            broadcast(root, 2, is_blocking);
        }
    }
    broadcast(size - 1, 1, 0);
    return verdict(wrong);
}
