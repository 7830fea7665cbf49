/* A user's program in which rank 0 makes a wrong call of MPI_Alltoallv that the others carry out: they have sent to it, and go on. Its next call
 * must not take their messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int *sent = calloc((size_t) size, sizeof(int)), *counts_sent = calloc((size_t) size, sizeof(int));
    int *received = calloc((size_t) size, sizeof(int)), *counts_received = calloc((size_t) size, sizeof(int));
    int *at = calloc((size_t) size, sizeof(int));
    for (int i = 0; i < size; i++) {
        at[i] = i;
        counts_received[i] = 0 == rank && 0 != i;
    }
    counts_sent[0] = 0 != rank;
    for (int call = 1; call <= 2; call++) {
        sent[0] = call;
        counts_sent[size - 1] = 0 == rank && 1 == call ? -1 : 0;
        int class = MPI_Alltoallv(sent, counts_sent, at, MPI_INT, received, counts_received, at, MPI_INT, comm);
        MPI_Error_class(class, &class);
        if (0 == rank) {
            const char *name = MPI_SUCCESS == class ? "MPI_SUCCESS" : MPI_ERR_COUNT == class ? "MPI_ERR_COUNT" : "another class";
            printf("call %d: %s, received %d\n", call, name, received[size - 1]);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
