/* Collectives on long elements with gaps take several times as long as on plain bytes, because each element
 * is packed once. If each stripe packed its element anew, they would take thousands of times as long. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 500, MOST_RANKS = 4, REPETITIONS = 5 };
enum { PLANES = 64, ROWS = 128, COLUMNS = 128, LENGTH = PLANES * ROWS * COLUMNS, START = 3 };

typedef double block[PLANES][ROWS][2 * COLUMNS];

static block sent[MOST_RANKS], received[MOST_RANKS];
static int rank, size;

/* The number of blocks that a rank sends or receives in a collective. */
typedef enum { NONE, ONE, ALL } share;

typedef struct {
    const char *name;
    void (*call)(void *from, void *to, int count, MPI_Datatype type);
    share sent_by_root, sent_by_others, received_by_root, received_by_others;
} collective;

static void bcast(void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Bcast(0 == rank ? from : to, count, type, 0, MPI_COMM_WORLD);
}

static void allgather(void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Allgather(from, count, type, to, count, type, MPI_COMM_WORLD);
}

static void alltoall(void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Alltoall(from, count, type, to, count, type, MPI_COMM_WORLD);
}

static void gather(void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Gather(from, count, type, to, count, type, 0, MPI_COMM_WORLD);
}

static void scatter(void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Scatter(from, count, type, to, count, type, 0, MPI_COMM_WORLD);
}

/* Counts and places of equal blocks, laid out as in the calls above. */
static const int *counts_of(int count)
{
    static int counts[MOST_RANKS];
    for (int i = 0; i < MOST_RANKS; i++) {
        counts[i] = count;
    }
    return counts;
}

static const int *places_of(int count)
{
    static int places[MOST_RANKS];
    for (int i = 0; i < MOST_RANKS; i++) {
        places[i] = i * count;
    }
    return places;
}

static void alltoallv(void *from, void *to, int count, MPI_Datatype type)
{
    const int *counts = counts_of(count), *places = places_of(count);
    MPI_Alltoallv(from, counts, places, type, to, counts, places, type, MPI_COMM_WORLD);
}

static void gatherv(void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Gatherv(from, count, type, to, counts_of(count), places_of(count), type, 0, MPI_COMM_WORLD);
}

static void scatterv(void *from, void *to, int count, MPI_Datatype type)
{
    MPI_Scatterv(from, counts_of(count), places_of(count), type, to, count, type, 0, MPI_COMM_WORLD);
}

static const collective collectives[] = {
    {"bcast", bcast, ONE, NONE, NONE, ONE},     {"allgather", allgather, ONE, ONE, ALL, ALL},
    {"alltoall", alltoall, ALL, ALL, ALL, ALL}, {"gather", gather, ONE, ONE, ALL, NONE},
    {"scatter", scatter, ALL, NONE, ONE, ONE},  {"alltoallv", alltoallv, ALL, ALL, ALL, ALL},
    {"gatherv", gatherv, ONE, ONE, ALL, NONE},  {"scatterv", scatterv, ALL, NONE, ONE, ONE},
};

static int blocks(share share)
{
    return NONE == share ? 0 : ONE == share ? 1 : size;
}

static double median_time(const collective *which, int count, MPI_Datatype type)
{
    double times[REPETITIONS];
    for (int i = 0; i < REPETITIONS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        which->call(sent, received, count, type);
        double own = MPI_Wtime() - begin;
        MPI_Allreduce(&own, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
            const double other = times[j];
            times[j] = times[j - 1];
            times[j - 1] = other;
        }
    }
    return times[REPETITIONS / 2];
}

/* Returns an element of a sender's block. */
static double value(int sender, int number, int place)
{
    return place + 1e7 * (sender + 10 * number);
}

static void fill(const collective *which)
{
    const int all = blocks(0 == rank ? which->sent_by_root : which->sent_by_others);
    for (int number = 0; number < MOST_RANKS; number++) {
        for (int i = 0; i < LENGTH; i++) {
            const int plane = i / COLUMNS / ROWS, row = i / COLUMNS % ROWS, column = i % COLUMNS + START;
            sent[number][plane][row][column] = number < all ? value(rank, number, i) : -1;
            received[number][plane][row][column] = -2;
        }
    }
}

static int count_wrong(const collective *which)
{
    const share own = 0 == rank ? which->received_by_root : which->received_by_others;
    const int sends_all = ALL == which->sent_by_root;
    int wrong = 0;
    for (int number = 0; number < MOST_RANKS; number++) {
        for (int i = 0; i < LENGTH; i++) {
            const int plane = i / COLUMNS / ROWS, row = i / COLUMNS % ROWS, column = i % COLUMNS + START;
            const double expected = number < blocks(own) ? value(number, sends_all ? rank : 0, i) : -2;
            wrong += expected != received[number][plane][row][column];
        }
        wrong += 0 != received[number][1][1][START - 1] || 0 != received[number][1][1][START + COLUMNS];
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0, all_wrong;
    const int sizes[] = {PLANES, ROWS, 2 * COLUMNS}, parts[] = {PLANES, ROWS, COLUMNS}, starts[] = {0, 0, START};
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST_RANKS) {
        fprintf(stderr, "this program takes at most %d ranks, not %d\n", MOST_RANKS, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        const collective *which = &collectives[i];
        const double of_bytes = median_time(which, LENGTH, MPI_DOUBLE);
        for (int number = 0; number < MOST_RANKS; number++) {
            received[number][1][1][START - 1] = received[number][1][1][START + COLUMNS] = 0;
        }
        fill(which);
        const double of_elements = median_time(which, 1, type);
        wrong += count_wrong(which) + (of_elements > MOST * of_bytes);
        if (0 == rank) {
            printf("%s of elements with gaps takes %.1f times as long as of plain bytes\n", which->name, of_elements / of_bytes);
        }
    }
    MPI_Type_free(&type);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf(0 == all_wrong ? "all results are right\n" : "%d results are wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0 != all_wrong;
}
