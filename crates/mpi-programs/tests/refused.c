/* A user's program in which rank 0 makes a wrong call that the others carry out: they have sent to it, and go on. Its next call must not take
 * their messages. The calls are of MPI_Alltoallv or, with an argument, of MPI_Bcast. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;

static int exchange(int call, MPI_Comm comm, int *received)
{
    int *sent = calloc((size_t) size, sizeof(int)), *counts_sent = calloc((size_t) size, sizeof(int));
    int *all = calloc((size_t) size, sizeof(int)), *counts_received = calloc((size_t) size, sizeof(int));
    int *at = calloc((size_t) size, sizeof(int));
    for (int i = 0; i < size; i++) {
        at[i] = i;
        counts_received[i] = 0 == rank && 0 != i;
    }
    sent[0] = call;
    counts_sent[0] = 0 != rank;
    counts_sent[size - 1] = 0 == rank && 1 == call ? -1 : counts_sent[size - 1];
    int error = MPI_Alltoallv(sent, counts_sent, at, MPI_INT, all, counts_received, at, MPI_INT, comm);
    *received = all[size - 1];
    free(at);
    free(counts_received);
    free(all);
    free(counts_sent);
    free(sent);
    return error;
}

static int broadcast(int call, MPI_Comm comm, int *received)
{
    *received = 0 == rank ? 0 : call;
    return MPI_Bcast(received, 0 == rank && 1 == call ? -1 : 1, MPI_INT, size - 1, comm);
}

static void end_waiting(int signal)
{
    static const char text[] = "call 2: waits\n";
    _exit(sizeof text - 1 == write(1, text, sizeof text - 1) ? 0 : 1);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (0 == rank && 1 < argc) {
        signal(SIGALRM, end_waiting);
        alarm(5);
    }
    for (int call = 1; call <= 2; call++) {
        int received, class = 1 < argc ? broadcast(call, comm, &received) : exchange(call, comm, &received);
        MPI_Error_class(class, &class);
        if (0 == rank) {
            const char *name = MPI_SUCCESS == class ? "MPI_SUCCESS" : MPI_ERR_COUNT == class ? "MPI_ERR_COUNT" : "another class";
            printf("call %d: %s, received %d\n", call, name, received);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
