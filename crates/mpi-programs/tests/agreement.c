/* A user's program that communicates. With the argument "preferring", it also communicates on a communicator
 * that prefers the component. With other arguments, it spawns two processes of that command, and communicates
 * with them. The argument "spawned" marks such a process. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preferring.h"

static void use(MPI_Comm communicator)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator);
}

/* Returns once all ranks have left MPI_Init, even if the job is about to end because their collectives differ.
 * Otherwise one rank could be in MPI_Finalize when another ends the job. Then Open MPI 4.1's mpirun may hang, with
 * rustcoll or without: whenever a rank's connection is lost, PMIx 4.2 takes the fence of MPI_Finalize for complete,
 * and frees it again. */
static void meet(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request *requests = malloc(2 * size * sizeof *requests);
    for (int peer = 0; peer < size; peer++) {
        MPI_Irecv(NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[2 * peer]);
        MPI_Isend(NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[2 * peer + 1]);
    }
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

int main(int argc, char **argv)
{
    MPI_Comm other = MPI_COMM_NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    meet();
    use(MPI_COMM_WORLD);
    if (2 == argc && 0 == strcmp(argv[1], "spawned")) {
        MPI_Comm_get_parent(&other);
    } else if (2 == argc && 0 == strcmp(argv[1], "preferring")) {
        other = preferring(MPI_COMM_WORLD);
    } else if (1 < argc) {
        MPI_Comm_spawn(argv[1], argv + 2, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    }
    if (MPI_COMM_NULL != other) {
        use(other);
        MPI_Comm_disconnect(&other);
    }
    MPI_Finalize();
    if (0 == rank) {
        puts("came to the end");
    }
    return 0;
}
