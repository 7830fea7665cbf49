/* The ranks of a communicator learn in its first blocking collective whether they are on one node. Later persistent collectives must know it,
 * also if a non-blocking one came first, and ranks must then decide anew what they remember of the time before. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int rank, size;

static int sum_is_right(const double *sum) { return size * (size - 1) / 2 == *sum; }

/* Returns the number of the algorithm that served a persistent allreduce. */
static int ran(MPI_Comm communicator, const int *number)
{
    double own = rank, sum = -1;
    MPI_Request request;
#if MPI_VERSION >= 4
    MPI_Allreduce_init(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#else
    MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    return sum_is_right(&sum) ? *number : -1;
}

static int reduce(MPI_Comm communicator, int in_place)
{
    double own = rank, sum = rank;
    MPI_Request request;
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : &own, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return !sum_is_right(&sum);
}

int main(int argc, char **argv)
{
    int wrong = 0, all_wrong;
    MPI_Comm first, second;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    int *(*variable)(const char *) = (int *(*) (const char *) ) dlsym(RTLD_DEFAULT, "rustcoll_variable");
    const int *number = variable("allreduce_ran");
    MPI_Barrier(first);
    const int expected = ran(first, number);
    wrong += reduce(second, 0);
    MPI_Barrier(second);
    const int found = ran(second, number);
    /* Rank 0 decides this call anew, for it is in place only there. */
    wrong += reduce(second, 0 == rank);
    if (0 > found || expected != found) {
        printf("algorithm %d instead of %d\n", found, expected);
        wrong++;
    }
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf(0 == all_wrong ? "all results are right\n" : "%d results are wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0 != wrong;
}
