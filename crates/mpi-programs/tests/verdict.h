/* The end of the tests' programs. */
#include <mpi.h>
#include <stdio.h>

/* Prints on rank 0 the number of faults on all ranks. Returns this rank's exit code. */
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
