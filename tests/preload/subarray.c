/* A broadcast of one long element with gaps takes several times as long as one of plain bytes: it is packed once. Packed for each stripe, it
 * would take hundreds of times as long. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 50 };
enum { PLANES = 128, ROWS = 128, COLUMNS = 128, REPETITIONS = 5 };

static double element[PLANES][ROWS][2 * COLUMNS];
static double plain[PLANES * ROWS * COLUMNS];

static double median_time(void *buffer, int count, MPI_Datatype type)
{
    double times[REPETITIONS];
    for (int i = 0; i < REPETITIONS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        MPI_Bcast(buffer, count, type, 0, MPI_COMM_WORLD);
        double own = MPI_Wtime() - begin;
        MPI_Allreduce(&own, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
            const double other = times[j];
            times[j] = times[j - 1];
            times[j - 1] = other;
        }
    }
    return times[REPETITIONS / 2];
}

int main(int argc, char **argv)
{
    int rank, wrong = 0, all_wrong;
    const int sizes[] = {PLANES, ROWS, 2 * COLUMNS}, parts[] = {PLANES, ROWS, COLUMNS}, starts[] = {0, 0, 3};
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; 0 == rank && i < PLANES * ROWS * COLUMNS; i++) {
        element[i / COLUMNS / ROWS][i / COLUMNS % ROWS][i % COLUMNS + 3] = i;
    }
    const double of_element = median_time(element, 1, type);
    const double of_bytes = median_time(plain, sizeof plain / sizeof *plain, MPI_DOUBLE);
    for (int i = 0; i < PLANES * ROWS * COLUMNS; i++) {
        wrong += i != element[i / COLUMNS / ROWS][i / COLUMNS % ROWS][i % COLUMNS + 3];
    }
    wrong += 0 != element[1][1][2];
    wrong += of_element > MOST * of_bytes;
    MPI_Type_free(&type);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("an element with gaps takes %.1f times as long as plain bytes\n", of_element / of_bytes);
        printf(0 == all_wrong ? "all results are right\n" : "%d results are wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0 != all_wrong;
}
