/* A user's program that uses communicators while it duplicates them without blocking. Each of its ranks
 * pretends to be on its own node. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pretended_nodes.h"
#include "verdict.h"

enum { DUPLICATES = 100, CALLS = 3, MICROSECONDS = 200 };

static int rank, size, wrong;

static void sum_late(MPI_Comm communicator)
{
    int one = 1, sum = 0;
    usleep((unsigned) (rand() % MICROSECONDS));
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator);
    wrong += sum != size;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned) rank);
    ranks_on_node = 1;
    for (int i = 0; i < DUPLICATES; i++) {
        MPI_Comm used, duplicate;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &used);
        usleep((unsigned) (rand() % MICROSECONDS));
        MPI_Comm_idup(used, &duplicate, &request);
        for (int call = 0; call < CALLS; call++) {
            sum_late(used);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&duplicate);
        MPI_Comm_free(&used);
    }
    return verdict(wrong);
}
