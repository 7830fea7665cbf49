/* More communicators than can have a private one each, with collectives on each. Also attributes: only the
 * program's own duplication may copy them. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int copied;

static int copy(MPI_Comm communicator, int key, void *extra, void *value, void *new_value, int *is_copied)
{
    copied++;
    *(void **) new_value = value;
    *is_copied = 1;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const int number = argc > 1 ? atoi(argv[1]) : 1500;
    int rank, size, key, wrong = 0, all_wrong, attribute = 1;
    MPI_Comm *communicators = malloc((size_t) number * sizeof *communicators);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &attribute);
    for (int i = 0; i < number; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
        MPI_Barrier(communicators[i]);
    }
    for (int i = 0; i < number; i++) {
        const int own = rank + i;
        int sum = 0;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, communicators[i]);
        wrong += size * (size - 1) / 2 + size * i != sum;
    }
    wrong += number != copied;
    for (int i = 0; i < number; i++) {
        MPI_Comm_free(&communicators[i]);
    }
    MPI_Comm_free_keyval(&key);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf(0 == all_wrong ? "all results are right\n" : "%d results are wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0 != all_wrong;
}
