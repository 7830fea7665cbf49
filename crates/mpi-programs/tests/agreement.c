/* A user's program that communicates. Given a command, it has two processes of that spawned as well, and communicates
 * with them; started with the argument "spawned" it is one of these. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void use(MPI_Comm communicator)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator);
}

int main(int argc, char **argv)
{
    MPI_Comm other = MPI_COMM_NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    use(MPI_COMM_WORLD);
    if (2 == argc && 0 == strcmp(argv[1], "spawned")) {
        MPI_Comm_get_parent(&other);
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
