/* How a program of the tests ends. */
#include <mpi.h>
#include <stdio.h>

/* Rank 0 says how much was wrong on all ranks; the exit code is what this rank returns from main. */
static int verdict(int wrong)
{
    int rank, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0 != wrong;
}
