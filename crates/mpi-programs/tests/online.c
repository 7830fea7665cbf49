/* A user's program that repeats a few short collectives, and checks their results. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 300 };

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("%s is wrong\n", what);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double start = 0;
    for (int call = 0; call < CALLS; call++) {
        if (200 == call) {
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
        }
        int values[2] = {rank + call, 1}, sums[2];
        MPI_Allreduce(values, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(size * call + size * (size - 1) / 2 == sums[0] && size == sums[1], "a sum");
    }
    if (0 == rank) {
        printf("later calls take %.2f us\n", 1e6 * (MPI_Wtime() - start) / (CALLS - 200));
    }
    for (int call = 0; call < CALLS; call++) {
        const int root = call % size;
        long value = root == rank ? call : -1;
        MPI_Bcast(&value, 1, MPI_LONG, root, MPI_COMM_WORLD);
        expect(call == value, "what was broadcast");
    }
    int *all = malloc(sizeof(int) * (size_t) size);
    for (int call = 0; call < CALLS; call++) {
        /* Every third call is longer, and of another datatype, but of the same kind for some ranks. */
        const int mine = call + rank;
        MPI_Allgather(&mine, call % 3 ? 1 : 4, call % 3 ? MPI_INT : MPI_BYTE, all, 1, MPI_INT, MPI_COMM_WORLD);
        for (int other = 0; other < size; other++) {
            expect(call + other == all[other], "what was gathered");
        }
    }
    free(all);
    MPI_Finalize();
    return 0;
}
