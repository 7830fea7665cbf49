/* A user's program whose ranks, in a ring, pretend to be on nodes of two. It calls alltoall among neighbours before and after an
 * alltoallv, from which ranks may learn something. Then rank 0 alone describes its data by another datatype, so that it decides
 * anew. */
#include <mpi.h>
#include <string.h>

#include "pretended_nodes.h"
#include "verdict.h"

enum { COUNT = 8 };

static double sent[2][COUNT], received[2][COUNT];

static int check(int left, int right)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += (left != received[0][i]) + (right != received[1][i]);
    }
    memset(received, 0xff, sizeof received);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, periodic = 1, left, right;
    const int counts[2] = {COUNT, COUNT}, places[2] = {0, COUNT};
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks_on_node = 2;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    for (int i = 0; i < COUNT; i++) {
        sent[0][i] = sent[1][i] = rank;
    }
    MPI_Neighbor_alltoall(sent, COUNT, MPI_DOUBLE, received, COUNT, MPI_DOUBLE, ring);
    wrong += check(left, right);
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, ring);
    wrong += check(left, right);
    if (0 == rank) {
        MPI_Neighbor_alltoall(sent, sizeof sent[0], MPI_BYTE, received, sizeof received[0], MPI_BYTE, ring);
    } else {
        MPI_Neighbor_alltoall(sent, COUNT, MPI_DOUBLE, received, COUNT, MPI_DOUBLE, ring);
    }
    wrong += check(left, right);
    MPI_Comm_free(&ring);
    return verdict(wrong);
}
