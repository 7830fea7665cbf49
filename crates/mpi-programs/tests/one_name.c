/* A user's program whose ranks pretend to be on nodes of two ranks, but all nodes have one name. Allgathers before and
 * after a broadcast must be right. After it, all ranks except rank 0 describe their data by another datatype. The same
 * holds for calls among neighbours. */
#include <mpi.h>
#include <string.h>

#include "pretended_nodes.h"
#include "verdict.h"

enum { MOST_RANKS = 64 };

/* Exchanges the rank with both neighbours of a ring, by alltoallw or by alltoallv. Returns the number of faults. */
static int exchange(MPI_Comm ring, int by_bytes, int is_w)
{
    int rank, left, right, received[2] = {-1, -1}, sent[2];
    const int count = by_bytes ? sizeof(int) : 1, counts[2] = {count, count}, places[2] = {0, count};
    const MPI_Aint bytes[2] = {0, sizeof(int)};
    const MPI_Datatype type = by_bytes ? MPI_BYTE : MPI_INT, types[2] = {type, type};
    MPI_Comm_rank(ring, &rank);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    sent[0] = sent[1] = rank;
    if (is_w) {
        MPI_Neighbor_alltoallw(sent, counts, bytes, types, received, counts, bytes, types, ring);
    } else {
        MPI_Neighbor_alltoallv(sent, counts, places, type, received, counts, places, type, ring);
    }
    return (left != received[0]) + (right != received[1]);
}

static int among_neighbours(void)
{
    MPI_Comm ring;
    int rank, size, periodic = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    const int wrong = exchange(ring, 0, 1) + exchange(ring, 0, 0) + exchange(ring, 0 == rank, 1);
    MPI_Comm_free(&ring);
    return wrong;
}

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
    wrong += among_neighbours();
    return verdict(wrong);
}
