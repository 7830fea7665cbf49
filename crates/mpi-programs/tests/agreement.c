/* A user's program that communicates. With the argument "preferring" it does so on a communicator, too, that names the
 * component. Given any other command, it has two processes of that spawned as well, and communicates
 * with them; started with the argument "spawned" it is one of these. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void use(MPI_Comm communicator)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator);
}

/* Comes back once all ranks have come out of MPI_Init, also where the job is about to end because their collectives differ. Without it a
 * rank could be in MPI_Finalize when another one ends the job, and then Open MPI 4.1's mpirun may hang, with rustcoll or without: PMIx 4.2
 * takes the fence of MPI_Finalize for complete as often as a rank's connection is lost, and frees it each time. */
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

static MPI_Comm preferring(void)
{
    MPI_Info info;
    MPI_Comm duplicate;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", "rustcoll");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &duplicate);
    MPI_Info_free(&info);
    return duplicate;
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
        other = preferring();
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
