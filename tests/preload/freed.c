/* A persistent collective that the program frees while it is active ends as if it had not been freed. */

#include <mpi.h>
#include <stdio.h>

enum { CALLS = 200, LENGTH = 20000 };

int main(int argc, char **argv)
{
    static volatile int vector[LENGTH];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if MPI_VERSION >= 4
    for (int i = 1; i <= CALLS; i++) {
        MPI_Request request;
        const int root = i % 2, length = i % 3 ? 1 : LENGTH;
        for (int j = 0; j < length; j++) {
            vector[j] = rank == root ? i + j : 0;
        }
        MPI_Bcast_init((int *) vector, length, MPI_INT, root, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Request_free(&request);
        /* Elements may come in any order. */
        for (int j = 0; j < length; j++) {
            while (i + j != vector[j]) {
                int is_there;
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
#endif
    if (0 == rank) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return 0;
}
