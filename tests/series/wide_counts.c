/* Collectives with 64-bit counts and displacements, in all forms of arrays. Rank r sends r + 1 of its numbers
 * to each rank, or gets r + 1 numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16 };

static int rank, size, wrong;
static MPI_Count own[MOST], each[MOST];
static MPI_Aint own_places[MOST], places[MOST], own_bytes[MOST], bytes[MOST];
static MPI_Datatype types[MOST];
static int sent[MOST * MOST], received[MOST * MOST];

static void forget(void)
{
    for (int i = 0; i < MOST * MOST; i++) {
        received[i] = -1;
    }
}

/* Checks that each rank's numbers have arrived, one rank after the other. */
static void expect_all(const char *collective)
{
    for (int from = 0, place = 0; from < size; from++) {
        for (int i = 0; i <= from; i++, place++) {
            if (from != received[place]) {
                printf("rank %d: %s: %d in place of %d\n", rank, collective, received[place], from);
                wrong = 1;
                return;
            }
        }
    }
}

static void prepare(void)
{
    for (int i = 0, place = 0; i < size; place += ++i) {
        own[i] = rank + 1;
        own_places[i] = 0;
        own_bytes[i] = 0;
        each[i] = i + 1;
        places[i] = place;
        bytes[i] = place * (MPI_Aint) sizeof(int);
        types[i] = MPI_INT;
    }
    for (int i = 0; i < MOST * MOST; i++) {
        sent[i] = rank;
    }
}

/* Makes each rank a neighbour of all ranks. */
static MPI_Comm all_neighbours(void)
{
    int ranks[MOST];
    MPI_Comm neighbours;
    for (int i = 0; i < size; i++) {
        ranks[i] = i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, ranks, MPI_UNWEIGHTED, size, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &neighbours);
    return neighbours;
}

static void check_arrays(void)
{
    MPI_Request request;
    forget();
    MPI_Allgatherv_c(sent, rank + 1, MPI_INT, received, each, places, MPI_INT, MPI_COMM_WORLD);
    expect_all("allgatherv");
    forget();
    MPI_Alltoallv_c(sent, own, own_places, MPI_INT, received, each, places, MPI_INT, MPI_COMM_WORLD);
    expect_all("alltoallv");
    forget();
    MPI_Ialltoallv_c(sent, own, own_places, MPI_INT, received, each, places, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_all("ialltoallv");
    forget();
    MPI_Alltoallw_c(sent, own, own_bytes, types, received, each, bytes, types, MPI_COMM_WORLD);
    expect_all("alltoallw");
    MPI_Comm neighbours = all_neighbours();
    forget();
    MPI_Neighbor_alltoallw_c(sent, own, own_bytes, types, received, each, bytes, types, neighbours);
    expect_all("neighbor_alltoallw");
    forget();
    MPI_Neighbor_alltoallw_init_c(sent, own, own_bytes, types, received, each, bytes, types, neighbours, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    expect_all("neighbor_alltoallw_init");
    MPI_Comm_free(&neighbours);
}

static void check_reductions(void)
{
    const int sum = size * (size - 1) / 2;
    forget();
    MPI_Allreduce_c(sent, received, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong |= sum != received[4];
    forget();
    MPI_Reduce_scatter_c(sent, received, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong |= sum != received[rank] || -1 != received[rank + 1];
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MOST < size) {
        fprintf(stderr, "%d ranks are too many, %d would do\n", size, MOST);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    prepare();
    check_arrays();
    check_reductions();
    int wrong_anywhere;
    MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == rank && !wrong_anywhere) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return wrong_anywhere;
}
