/* Whether all ranks get the same bits from an allreduce. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Whether this rank has other bits than rank 0. */
static int differs_from_rank_0(const double *result, int count)
{
    size_t bytes = (size_t) count * sizeof *result;
    double *first = malloc(bytes);
    memcpy(first, result, bytes);
    MPI_Bcast(first, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    const int differs = 0 != memcmp(first, result, bytes);
    free(first);
    return differs;
}

/* Returns in how many of two calls this rank gets other bits than rank 0, for all operands. For example, the maximum of a NaN and a number
 * depends on their order. */
static int different_bits(int count, MPI_Op operation)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *mine = malloc((size_t) count * sizeof *mine), *result = malloc((size_t) count * sizeof *result);
    for (int i = 0; i < count; i++) {
        int choice = (i + rank) % 3;
        mine[i] = i % size == rank ? NAN : 0 == choice ? 0.0 : 1 == choice ? -0.0 : 1.0 / (rank + i + 1);
    }
    MPI_Allreduce(mine, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    int different = differs_from_rank_0(result, count);
    MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    different += differs_from_rank_0(mine, count);
    free(mine);
    free(result);
    return different;
}
