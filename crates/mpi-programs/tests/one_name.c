/* A user's program whose ranks pretend to be on nodes of two ranks, but all nodes have one name. Allgathers before and
 * after a broadcast must be right. After it, all ranks except rank 0 describe their data by another datatype. */
#include <mpi.h>
#include <string.h>

#include "pretended_nodes.h"
#include "verdict.h"

enum { MOST_RANKS = 64 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, number, data[2], all[2 * MOST_RANKS];
    MPI_Datatype pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks_on_node = 2;
    have_one_name = 1;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int is_after = 0; is_after < 2; is_after++) {
        int is_other = is_after && 0 != rank, count = is_other ? 1 : 2;
        MPI_Datatype type = is_other ? pair : MPI_INT;
        data[0] = data[1] = rank;
        memset(all, 0xff, sizeof all);
        MPI_Allgather(data, count, type, all, count, type, MPI_COMM_WORLD);
        for (int i = 0; i < 2 * size; i++) {
            wrong += all[i] != i / 2;
        }
        number = 0 == rank ? 7 : 0;
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        wrong += 7 != number;
    }
    MPI_Type_free(&pair);
    return verdict(wrong);
}
