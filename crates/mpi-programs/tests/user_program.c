/* A user's program: it knows nothing of the component. Each collective on some counts, checked; the root of the
 * broadcast is the first argument. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;

static void expect(long got, long wanted)
{
    wrong += got != wanted;
}

static void test_allreduce(int count)
{
    long *mine = malloc((size_t) count * sizeof *mine), *sums = malloc((size_t) count * sizeof *sums);
    for (int i = 0; i < count; i++) {
        mine[i] = (long) rank * count + i;
    }
    MPI_Allreduce(mine, sums, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect(sums[i], (long) size * (size - 1) / 2 * count + (long) size * i);
    }
    MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect(mine[i], (long) (size - 1) * count + i);
    }
    free(mine);
    free(sums);
}

static void test_alltoall(int count)
{
    size_t elements = (size_t) size * (size_t) count;
    int *sent = malloc(elements * sizeof *sent), *received = malloc(elements * sizeof *received);
    for (size_t i = 0; i < elements; i++) {
        sent[i] = rank * 1000000 + (int) i;
    }
    MPI_Alltoall(sent, count, MPI_INT, received, count, MPI_INT, MPI_COMM_WORLD);
    for (size_t i = 0; i < elements; i++) {
        int source = (int) i / count;
        expect(received[i], source * 1000000 + rank * count + (int) i % count);
    }
    free(sent);
    free(received);
}

static void test_bcast(int count, int root)
{
    double *vector = malloc((size_t) count * sizeof *vector);
    for (int i = 0; i < count; i++) {
        vector[i] = rank == root ? i * 0.5 : -1;
    }
    MPI_Bcast(vector, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        expect((long) (2 * vector[i]), i);
    }
    free(vector);
}

/* All ranks must get the same bits, whatever the operands: a maximum of a NaN and a number depends on their order. */
static void test_same_bits(int count, MPI_Op operation)
{
    double *mine = malloc((size_t) count * sizeof *mine), *result = malloc((size_t) count * sizeof *result);
    double *first = malloc((size_t) count * sizeof *first);
    for (int i = 0; i < count; i++) {
        int choice = (i + rank) % 3;
        mine[i] = i % size == rank ? NAN : 0 == choice ? 0.0 : 1 == choice ? -0.0 : 1.0 / (rank + i + 1);
    }
    MPI_Allreduce(mine, result, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    memcpy(first, result, (size_t) count * sizeof *first);
    MPI_Bcast(first, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    expect(memcmp(first, result, (size_t) count * sizeof *first), 0);
    MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    memcpy(first, mine, (size_t) count * sizeof *first);
    MPI_Bcast(first, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    expect(memcmp(first, mine, (size_t) count * sizeof *first), 0);
    free(mine);
    free(result);
    free(first);
}

static void keep_left(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        /* The left projection: associative, and not commutative. */
        ((int *) right)[i] = ((int *) left)[i];
    }
}

static void test_order(MPI_Comm communicator)
{
    int mine = rank + 7, first = 0;
    MPI_Op left;
    MPI_Op_create(keep_left, 0, &left);
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(&mine, &first, 1, MPI_INT, left, communicator);
        expect(first, 7);
        MPI_Request request;
        first = 0;
        MPI_Iallreduce(&mine, &first, 1, MPI_INT, left, communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(first, 7);
    }
    MPI_Op_free(&left);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int root = argc > 1 ? atoi(argv[1]) : 0;
    int counts[] = {1, 10, 1000, 50000};
    for (int i = 0; i < 4; i++) {
        test_allreduce(counts[i]);
        test_alltoall(counts[i] / 10 + 1);
        test_bcast(counts[i], root);
        test_same_bits(counts[i], MPI_MAX);
        test_same_bits(counts[i], MPI_MIN);
        test_same_bits(counts[i], MPI_SUM);
    }
    MPI_Comm duplicate;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    test_order(MPI_COMM_WORLD);
    test_order(duplicate);
    MPI_Comm_free(&duplicate);
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0 != wrong;
}
