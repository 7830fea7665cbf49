/* A user's program that makes known numbers of calls. Usage: profile [RANK MILLISECONDS] [abort]. This rank comes so
 * many milliseconds late to each allreduce of the first loop. With "abort" as the last argument, the job ends before
 * MPI_Finalize. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALLREDUCES = 100, BROADCASTS = 10, BARRIERS = 7, NON_BLOCKING = 5 };

static void be_late(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    int rank, one = 1, sum, values[1000] = {0};
    MPI_Request request;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ALLREDUCES; i++) {
        if (3 <= argc && atoi(argv[1]) == rank) {
            be_late(atol(argv[2]));
        }
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < BROADCASTS; i++) {
        MPI_Bcast(values, 1000, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < BARRIERS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < NON_BLOCKING; i++) {
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_set_name(half, rank % 2 ? "half 1" : "half 0");
    for (int i = 0; i < ALLREDUCES; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_MAX, half);
    }
    MPI_Comm_free(&half);
    if (0 == strcmp("abort", argv[argc - 1])) {
        abort();
    }
    MPI_Finalize();
    return 0;
}
