/* A user's program that reduces the same data in many ways: whole and in pieces, to every root, blocking or
 * not, once or repeatedly. It counts the elements whose bits differ from those of the first way. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

#define COUNT 40000

static int rank, size, wrong;
static double mine[COUNT], total[COUNT], result[COUNT];

static void compare(const double *expected, const double *got, int count)
{
    for (int i = 0; i < count; i++) {
        wrong += 0 != memcmp(expected + i, got + i, sizeof *got);
    }
}

/* An operator that is neither commutative nor associative. */
static void halve_left(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        ((double *) right)[i] += ((double *) left)[i] / 2 + 1e-3;
    }
}

static void allreduce(int offset, int count, MPI_Op operation, int way)
{
    MPI_Request request = MPI_REQUEST_NULL;
    memset(result, 0, sizeof result);
    switch (way) {
    case 0:
        MPI_Allreduce(mine + offset, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Iallreduce(mine + offset, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD, &request);
        break;
    case 2:
        MPIX_Allreduce_init(mine + offset, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &request);
        MPI_Start(&request);
        break;
    default:
        memcpy(result, mine + offset, (size_t) count * sizeof *mine);
        MPI_Allreduce(MPI_IN_PLACE, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    compare(total + offset, result, count);
    if (2 == way) {
        MPI_Request_free(&request);
    }
}

static void reduce(int offset, int count, MPI_Op operation, int root)
{
    MPI_Reduce(mine + offset, result, count, MPI_DOUBLE, operation, root, MPI_COMM_WORLD);
    compare(total + offset, result, rank == root ? count : 0);
}

/* Rank i gets i + 1 elements more than half of an equal part. */
static void reduce_scatter(int offset, int count, MPI_Op operation)
{
    int *counts = malloc((size_t) size * sizeof *counts), own = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = count / (2 * size) + i + 1;
        own += i < rank ? counts[i] : 0;
    }
    MPI_Reduce_scatter(mine + offset, result, counts, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    compare(total + offset + own, result, counts[rank]);
    MPI_Reduce_scatter_block(mine + offset, result, count / size, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    compare(total + offset + rank * (count / size), result, count / size);
    free(counts);
}

static void scans(int offset, int count, MPI_Op operation, const double *scan, const double *exscan)
{
    MPI_Scan(mine + offset, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    compare(scan + offset, result, count);
    MPI_Exscan(mine + offset, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    compare(exscan + offset, result, 0 == rank ? 0 : count);
}

static void test(MPI_Op operation)
{
    static double scan[COUNT], exscan[COUNT];
    const int lengths[] = {1, 7, 300, 5000, COUNT};
    MPI_Allreduce(mine, total, COUNT, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    MPI_Scan(mine, scan, COUNT, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    MPI_Exscan(mine, exscan, COUNT, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        int count = lengths[i];
        /* Several offsets for pieces of this length. */
        for (int offset = 0, step = (COUNT - count) / 4 + 1; offset <= COUNT - count; offset += step) {
            for (int way = 0; way < 4; way++) {
                allreduce(offset, count, operation, way);
            }
            for (int root = 0; root < size; root++) {
                reduce(offset, count, operation, root);
            }
            if (count > 4 * size * size) {
                reduce_scatter(offset, count, operation);
            }
            scans(offset, count, operation, scan, exscan);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand(rank + 1);
    for (int i = 0; i < COUNT; i++) {
        /* Numbers of many magnitudes, so that every order of addition gives different bits. */
        mine[i] = (rand() - RAND_MAX / 2) * (double) (1 << rand() % 20);
    }
    MPI_Op halving;
    MPI_Op_create(halve_left, 0, &halving);
    test(MPI_SUM);
    test(halving);
    MPI_Op_free(&halving);
    return verdict(wrong);
}
