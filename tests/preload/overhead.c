/* Compares the time of collectives that rustcoll leaves to MPI with the same calls by PMPI, in turns. Fails if the
   median difference exceeds 100 ns. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 401, CALLS = 2000 };
static const double LIMIT = 100e-9;

static int buffer[4], result[4];

static void bcast(void) { MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void bcast_of_mpi(void) { PMPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(buffer, result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void allreduce_of_mpi(void) { PMPI_Allreduce(buffer, result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void barrier_of_mpi(void) { PMPI_Barrier(MPI_COMM_WORLD); }

static double seconds_each(void (*call)(void))
{
    double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
        call();
    }
    return (MPI_Wtime() - start) / CALLS;
}

static int compare(const void *left, const void *right)
{
    double difference = *(const double *) left - *(const double *) right;
    return (0 < difference) - (0 > difference);
}

static int measure(const char *name, void (*left)(void), void (*of_mpi)(void))
{
    static double differences[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        differences[turn] = seconds_each(left) - seconds_each(of_mpi);
    }
    qsort(differences, TURNS, sizeof *differences, compare);
    printf("%s left to MPI: %.0f ns more, quartiles %.0f and %.0f\n", name, 1e9 * differences[TURNS / 2],
           1e9 * differences[TURNS / 4], 1e9 * differences[3 * TURNS / 4]);
    return differences[TURNS / 2] > LIMIT;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int is_long = measure("bcast", bcast, bcast_of_mpi) | measure("allreduce", allreduce, allreduce_of_mpi)
                  | measure("barrier", barrier, barrier_of_mpi);
    MPI_Finalize();
    return is_long;
}
