/* A job that starts another one with as many ranks. Both make the same collectives of their own, then some together. */
#include <mpi.h>

#include "verdict.h"

int main(int argc, char **argv)
{
    MPI_Comm parent, other;
    int size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    for (int i = 0; i < 20; i++) {
        int sum = 1;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += size != sum;
    }
    if (MPI_COMM_NULL == parent) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    } else {
        other = parent;
    }
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    wrong += size != sum;
    MPI_Comm_disconnect(&other);
    return verdict(wrong);
}
