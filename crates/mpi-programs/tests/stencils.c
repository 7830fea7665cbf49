/* A user's program whose ranks exchange blocks with all adjacent ranks of a grid, including diagonal ones.
 * Usage: stencils [nearly] LENGTH..., with a negative length for a periodic dimension. With "nearly", two
 * ranks send each other one block more. Each rank lists its neighbours in another order. */
#include <mpi.h>
#if MPI_VERSION < 4
#include <mpi-ext.h>
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define MPI_Neighbor_allgather_init MPIX_Neighbor_allgather_init
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

enum { MOST_DIMENSIONS = 4, MOST_NEIGHBOURS = 81, MOST_COUNT = 300 };

typedef struct {
    int count, peers[MOST_NEIGHBOURS];
} list;

static int rank, size, wrong, dimensions, lengths[MOST_DIMENSIONS], periods[MOST_DIMENSIONS];

/* Returns the rank at an offset, or -1 beyond a border. */
static int moved(int from, const int *offset)
{
    int to = 0, stride = 1;
    for (int i = dimensions - 1; 0 <= i; i--) {
        int place = from % lengths[i] + offset[i];
        from /= lengths[i];
        if (periods[i]) {
            place = (place + lengths[i]) % lengths[i];
        } else if (place < 0 || lengths[i] <= place) {
            return -1;
        }
        to += stride * place;
        stride *= lengths[i];
    }
    return to;
}

/* Returns the ranks around this one, rotated to begin with number `first`. */
static list around(int first)
{
    list all = {0}, turned = {0};
    int number = 1;
    for (int i = 0; i < dimensions; i++) {
        number *= 3;
    }
    for (int i = 0; i < number; i++) {
        int offset[MOST_DIMENSIONS], rest = i, is_zero = 1;
        for (int j = 0; j < dimensions; j++) {
            offset[j] = rest % 3 - 1;
            is_zero = is_zero && 0 == offset[j];
            rest /= 3;
        }
        int peer = is_zero ? -1 : moved(rank, offset);
        if (0 <= peer) {
            all.peers[all.count++] = peer;
        }
    }
    for (int i = 0; i < all.count; i++) {
        turned.peers[turned.count++] = all.peers[(first + i) % all.count];
    }
    return turned;
}

/* Returns how often the peer with this number occurs before it. */
static int earlier(const list *peers, int number)
{
    int found = 0;
    for (int i = 0; i < number; i++) {
        found += peers->peers[i] == peers->peers[number];
    }
    return found;
}

static int value(int from, int to, int number, int element)
{
    return ((from * 131 + to) * 17 + number) * MOST_COUNT + element;
}

static int sent[MOST_NEIGHBOURS * MOST_COUNT], received[MOST_NEIGHBOURS * MOST_COUNT];

static void fill(const list *destinations, int is_alltoall, int count)
{
    for (int i = 0; i < (is_alltoall ? destinations->count : 1) * count; i++) {
        int block = i / count;
        sent[i] = is_alltoall ? value(rank, destinations->peers[block], earlier(destinations, block), i % count)
                              : value(rank, 0, 0, i);
    }
    memset(received, -1, sizeof received);
}

static void check(const list *sources, int is_alltoall, int count)
{
    for (int i = 0; i < sources->count * count; i++) {
        int block = i / count, from = sources->peers[block];
        wrong += received[i] != (is_alltoall ? value(from, rank, earlier(sources, block), i % count)
                                             : value(from, 0, 0, i % count));
    }
}

enum form { STARTED_AT_ONCE, BLOCKING, PERSISTENT };

static void call(MPI_Comm graph, const list *destinations, const list *sources, enum form form, int is_alltoall, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill(destinations, is_alltoall, count);
    if (BLOCKING == form && is_alltoall) {
        MPI_Neighbor_alltoall(sent, count, MPI_INT, received, count, MPI_INT, graph);
    } else if (BLOCKING == form) {
        MPI_Neighbor_allgather(sent, count, MPI_INT, received, count, MPI_INT, graph);
    } else if (STARTED_AT_ONCE == form && is_alltoall) {
        MPI_Ineighbor_alltoall(sent, count, MPI_INT, received, count, MPI_INT, graph, &request);
    } else if (STARTED_AT_ONCE == form) {
        MPI_Ineighbor_allgather(sent, count, MPI_INT, received, count, MPI_INT, graph, &request);
    } else if (is_alltoall) {
        MPI_Neighbor_alltoall_init(sent, count, MPI_INT, received, count, MPI_INT, graph, MPI_INFO_NULL, &request);
    } else {
        MPI_Neighbor_allgather_init(sent, count, MPI_INT, received, count, MPI_INT, graph, MPI_INFO_NULL, &request);
    }
    if (PERSISTENT == form) {
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sources, is_alltoall, count);
    if (PERSISTENT == form) {
        MPI_Request_free(&request);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int is_nearly = 1 < argc && 0 == strcmp(argv[1], "nearly");
    for (int i = 1 + is_nearly; i < argc && dimensions < MOST_DIMENSIONS; i++) {
        lengths[dimensions] = abs(atoi(argv[i]));
        periods[dimensions++] = atoi(argv[i]) < 0;
    }
    list destinations = around(rank), sources = around(2 * rank + 1);
    int other = 0 == rank ? size / 2 : 0, weights[MOST_NEIGHBOURS] = {0};
    if (is_nearly && (0 == rank || size / 2 == rank)) {
        destinations.peers[destinations.count++] = other;
        sources.peers[sources.count++] = other;
    }
    const enum form forms[][4] = {{STARTED_AT_ONCE, BLOCKING, STARTED_AT_ONCE, PERSISTENT},
                                  {PERSISTENT, STARTED_AT_ONCE, BLOCKING, BLOCKING}};
    for (int order = 0; order < 2; order++) {
        MPI_Comm graph;
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources.count, sources.peers, weights, destinations.count,
                                       destinations.peers, weights, MPI_INFO_NULL, 0, &graph);
        for (int i = 0; i < 4; i++) {
            for (int count = 0; count <= MOST_COUNT; count = 7 * count + 1) {
                call(graph, &destinations, &sources, forms[order][i], 0 == count % 2, count);
                call(graph, &destinations, &sources, forms[order][i], 1 == count % 2, count);
            }
        }
        MPI_Comm_free(&graph);
    }
    return verdict(wrong);
}
