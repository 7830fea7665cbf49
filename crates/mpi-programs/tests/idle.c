/* Every other rank of a graph has no neighbours, and passes counts of 0. Open MPI ends some of its calls before any component sees them, so
 * the other ranks, which are in a ring, must not wait for it. The argument is how many ranks pretend to be on each node. */

#include "pretended_nodes.h"
#include <stdlib.h>

enum { CALLS = 5 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all;
    MPI_Comm world, graph;
    MPI_Init(&argc, &argv);
    ranks_on_node = 1 < argc ? atoi(argv[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* Communicators know of the pretended nodes from now on. */
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    const int ring = (size + 1) / 2 * 2, is_idle = rank % 2;
    const int left = (rank + ring - 2) % ring, right = (rank + 2) % ring, degree = is_idle ? 0 : 1;
    MPI_Dist_graph_create_adjacent(world, degree, &left, MPI_UNWEIGHTED, degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    for (int i = 0; i < CALLS; i++) {
        int sent = 10 * rank + i, gathered = -1, exchanged = -1, varying = -1, counts[1] = {1}, places[1] = {0};
        /* All ranks come to this call, and may learn from it what the other calls must not use. */
        MPI_Neighbor_alltoallv(&sent, counts, places, MPI_INT, &varying, counts, places, MPI_INT, graph);
        MPI_Neighbor_allgather(&sent, degree, MPI_INT, &gathered, degree, MPI_INT, graph);
        MPI_Neighbor_alltoall(&sent, degree, MPI_INT, &exchanged, degree, MPI_INT, graph);
        const int expected = is_idle ? -1 : 10 * left + i;
        wrong += expected != gathered || expected != exchanged || expected != varying;
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%d wrong\n", all);
    }
    MPI_Comm_free(&graph);
    MPI_Comm_free(&world);
    MPI_Finalize();
    return 0;
}
