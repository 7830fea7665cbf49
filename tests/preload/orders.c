/* Non-blocking collectives begin before a barrier on some ranks, and after it on others. Whatever an
 * implementation learns in the barrier, all ranks must make the same decisions for the collectives. */

#include <mpi.h>
#include <stdio.h>

enum { COMMUNICATORS = 8, MOST = 20000 };

static int vector[MOST], sums[MOST];

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all_wrong;
    MPI_Comm communicators[COMMUNICATORS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
    }
    for (int i = 0; i < COMMUNICATORS; i++) {
        const int count = 1 + i * (MOST - 1) / (COMMUNICATORS - 1);
        MPI_Request request;
        for (int j = 0; j < count; j++) {
            vector[j] = rank + j;
        }
        /* An implementation learns only in a job's first barrier. */
        const int is_early = 0 == (rank + i) % size;
        if (!is_early) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Iallreduce(vector, sums, count, MPI_INT, MPI_SUM, communicators[i], &request);
        if (is_early) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int j = 0; j < count; j++) {
            wrong += size * (size - 1) / 2 + size * j != sums[j];
        }
    }
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm_free(&communicators[i]);
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf(0 == all_wrong ? "all results are right\n" : "%d results are wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0 != wrong;
}
