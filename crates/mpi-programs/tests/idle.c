/* The last rank of a graph has no neighbours, and passes counts of 0. Open MPI ends its calls before any component sees them, so the other
 * ranks, which are in a ring, must not wait for it. */

#include <mpi.h>
#include <stdio.h>

enum { CALLS = 5 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all;
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int ring = size - 1, is_idle = rank == ring;
    const int left = (rank + ring - 1) % ring, right = (rank + 1) % ring, degree = is_idle ? 0 : 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &left, MPI_UNWEIGHTED, degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    for (int i = 0; i < CALLS; i++) {
        int sent = 10 * rank + i, gathered = -1, exchanged = -1;
        MPI_Neighbor_allgather(&sent, degree, MPI_INT, &gathered, degree, MPI_INT, graph);
        MPI_Neighbor_alltoall(&sent, degree, MPI_INT, &exchanged, degree, MPI_INT, graph);
        const int expected = is_idle ? -1 : 10 * left + i;
        wrong += expected != gathered || expected != exchanged;
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%d wrong\n", all);
    }
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
