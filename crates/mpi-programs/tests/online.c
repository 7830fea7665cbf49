/* A user's program that repeats a few short collectives, and checks their results. Usage: online [VALUE], where VALUE
   is the value of the info key rustcoll_tune. */
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

/* Duplicates the world communicator, with the info key if there is a value. */
static MPI_Comm made(const char *value)
{
    MPI_Comm communicator;
    MPI_Info info;
    MPI_Info_create(&info);
    if (NULL != value) {
        MPI_Info_set(info, "rustcoll_tune", value);
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &communicator);
    MPI_Info_free(&info);
    return communicator;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm communicator = made(argc > 1 ? argv[1] : NULL);
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    double start = 0;
    for (int call = 0; call < CALLS; call++) {
        if (200 == call) {
            MPI_Barrier(communicator);
            start = MPI_Wtime();
        }
        int values[2] = {rank + call, 1}, sums[2];
        MPI_Allreduce(values, sums, 2, MPI_INT, MPI_SUM, communicator);
        expect(size * call + size * (size - 1) / 2 == sums[0] && size == sums[1], "a sum");
    }
    if (0 == rank) {
        printf("later calls take %.2f us\n", 1e6 * (MPI_Wtime() - start) / (CALLS - 200));
    }
    for (int call = 0; call < CALLS; call++) {
        const int root = call % size;
        long value = root == rank ? call : -1;
        MPI_Bcast(&value, 1, MPI_LONG, root, communicator);
        expect(call == value, "what was broadcast");
    }
    int *all = malloc(sizeof(int) * (size_t) size);
    for (int call = 0; call < CALLS; call++) {
        /* Every third call has another datatype and count. Each rank's data are the same bytes. */
        const int mine = call + rank;
        MPI_Allgather(&mine, call % 3 ? 1 : 4, call % 3 ? MPI_INT : MPI_BYTE, all, 1, MPI_INT, communicator);
        for (int other = 0; other < size; other++) {
            expect(call + other == all[other], "what was gathered");
        }
    }
    free(all);
    MPI_Comm_free(&communicator);
    MPI_Finalize();
    return 0;
}
