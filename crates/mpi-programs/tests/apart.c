/* A user's program whose ranks pretend to be on nodes of their own. All but rank 0 reduce on a communicator that prefers the component. */
#include <mpi.h>
#include <stdio.h>

#include "preferring.h"
#include "pretended_nodes.h"

static int sum_by_component(MPI_Comm ranks)
{
    int one = 1, sum = 0;
    MPI_Comm own = preferring(ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own);
    MPI_Comm_free(&own);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Comm others;
    int rank, size, is_right = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks_on_node = 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0 == rank ? MPI_UNDEFINED : 0, rank, &others);
    if (MPI_COMM_NULL != others) {
        is_right = size - 1 == sum_by_component(others);
        MPI_Comm_free(&others);
    }
    MPI_Finalize();
    if (0 == rank) {
        puts("came to the end");
    }
    return !is_right;
}
