/* A user's program whose blocks differ in length: once all are equally long, once one rank has all data. Odd ranks receive pairs of
 * integers where even ranks receive integers. */
#include <mpi.h>
#include <string.h>

#include "verdict.h"

enum { RANKS = 4, MOST = 16 };

static const int EQUAL[RANKS] = {4, 4, 4, 4}, ONE[RANKS] = {0, 0, 10, 0};

static int rank, wrong;

/* The element at a place of the whole vector, as a rank contributes it. */
static int element(int place, int contributor)
{
    return 100 * contributor + place;
}

static void gather_all(const int counts[RANKS], int in_place, int is_blocking)
{
    int unit = rank % 2 ? 2 : 1, all = 0;
    int blocks[RANKS], starts[RANKS], sent[MOST], received[MOST], expected[MOST];
    MPI_Datatype type;
    MPI_Type_contiguous(unit, MPI_INT, &type);
    MPI_Type_commit(&type);
    memset(received, -1, sizeof received);
    for (int block = 0; block < RANKS; block++) {
        blocks[block] = counts[block] / unit;
        starts[block] = all / unit;
        for (int i = 0; i < counts[block]; i++, all++) {
            expected[all] = element(all, block);
            if (block == rank) {
                (in_place ? received + all : sent + i)[0] = expected[all];
            }
        }
    }
    const void *input = in_place ? MPI_IN_PLACE : sent;
    if (is_blocking) {
        MPI_Allgatherv(input, counts[rank], MPI_INT, received, blocks, starts, type, MPI_COMM_WORLD);
    } else {
        MPI_Request request;
        MPI_Iallgatherv(input, counts[rank], MPI_INT, received, blocks, starts, type, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    wrong += memcmp(received, expected, (size_t) all * sizeof(int)) != 0;
    MPI_Type_free(&type);
}

static void reduce_and_scatter(const int counts[RANKS], int is_blocking)
{
    int all = 0, start = 0, sent[MOST], received[MOST];
    for (int block = 0; block < RANKS; block++) {
        start = block == rank ? all : start;
        for (int i = 0; i < counts[block]; i++, all++) {
            sent[all] = element(all, rank);
        }
    }
    if (is_blocking) {
        MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Request request;
        MPI_Ireduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < counts[rank]; i++) {
        int sum = 0;
        for (int contributor = 0; contributor < RANKS; contributor++) {
            sum += element(start + i, contributor);
        }
        wrong += received[i] != sum;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int is_blocking = 0; is_blocking < 2; is_blocking++) {
        gather_all(EQUAL, 0, is_blocking);
        gather_all(ONE, 0, is_blocking);
        gather_all(ONE, 1, is_blocking);
        reduce_and_scatter(EQUAL, is_blocking);
        reduce_and_scatter(ONE, is_blocking);
    }
    return verdict(wrong);
}
