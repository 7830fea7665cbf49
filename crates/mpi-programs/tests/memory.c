/* A user's program whose collectives need more memory than allowed or available, or that measures how much is
 * kept. The first argument selects the test. */
#include <mpi.h>
#include <malloc.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "verdict.h"

static int rank, size, wrong;

static void expect(long got, long wanted)
{
    wrong += got != wanted;
}

static void expect_no_memory(int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    expect(class, MPI_ERR_NO_MEM);
}

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    expect(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (size_t) pages * (size_t) sysconf(_SC_PAGESIZE);
}

/* Sums the ranks' vectors in place, and checks the result unless the call fails. */
static int sum(int *vector, int count, MPI_Comm comm)
{
    for (int i = 0; i < count; i++) {
        vector[i] = rank + i;
    }
    int error = MPI_Allreduce(MPI_IN_PLACE, vector, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; MPI_SUCCESS == error && i < count; i++) {
        expect(vector[i], size * (size - 1) / 2 + size * i);
    }
    return error;
}

/* Large calls are refused in every form. Small ones are served before and afterwards. */
static void test_limit(int *vector, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int block = count / size, *counts = malloc((size_t) size * sizeof *counts);
    for (int i = 0; i < size; i++) {
        counts[i] = block;
    }
    for (int i = 0; i < 3; i++) {
        expect(sum(vector, 100, MPI_COMM_WORLD), MPI_SUCCESS);
        expect_no_memory(sum(vector, count, MPI_COMM_WORLD));
        expect_no_memory(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, vector, block, MPI_INT, MPI_COMM_WORLD));
        expect_no_memory(
            MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, vector, block, MPI_INT, MPI_COMM_WORLD, &request));
        expect_no_memory(MPIX_Allreduce_init(MPI_IN_PLACE, vector, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                             MPI_INFO_NULL, &request));
        expect_no_memory(MPI_Reduce_scatter(MPI_IN_PLACE, vector, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    }
    free(counts);
}

/* Only the root of a reduction needs memory. All ranks refuse the call, so that later calls are right. */
static void test_root(int *vector, int count)
{
    int *result = vector + count;
    for (int round = 0; round < 4; round++) {
        int length = 0 == round ? count : 100, root = round % size;
        for (int i = 0; i < length; i++) {
            vector[i] = rank + i + round;
        }
        int error = MPI_Reduce(vector, result, length, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        if (0 == round) {
            expect_no_memory(error);
            continue;
        }
        expect(error, MPI_SUCCESS);
        for (int i = 0; root == rank && i < length; i++) {
            expect(result[i], size * (size - 1) / 2 + size * (i + round));
        }
    }
}

/* Blocks pass through ranks that do not know their lengths in advance. Afterwards the communicator serves short
   blocks. */
static void test_exchange(int *vector, int count)
{
    int *counts = malloc((size_t) size * sizeof *counts), *places = calloc((size_t) size, sizeof *places);
    for (int length = count / size; 0 < length; length /= 100) {
        int own = length / (rank + 1), *sent = malloc((size_t) own * sizeof *sent + 1);
        for (int i = 0; i < own; i++) {
            sent[i] = rank + i;
        }
        for (int i = 0; i < size; i++) {
            counts[i] = length / (i + 1);
            places[i] = length * i;
        }
        expect(MPI_Gatherv(sent, own, MPI_INT, vector, counts, places, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        for (int i = 0; 0 == rank && i < size; i++) {
            for (int j = 0; j < counts[i]; j++) {
                expect(vector[places[i] + j], i + j);
            }
        }
        free(sent);
    }
    free(counts);
    free(places);
}

/* Leaves address space, but not enough for a copy of the vector. If a blocking call gets no memory, its communicator
 * serves no further calls, because this rank cannot know what the others have sent. Other communicators serve all
 * calls. */
static void test_shortage(int *vector, int count)
{
    struct rlimit before, little;
    MPI_Request request = MPI_REQUEST_NULL;
    getrlimit(RLIMIT_AS, &before);
    for (int i = 0; i < 3; i++) {
        MPI_Comm broken;
        MPI_Comm_dup(MPI_COMM_WORLD, &broken);
        expect(sum(vector, 1000, MPI_COMM_WORLD), MPI_SUCCESS);
        expect(sum(vector, 1000, broken), MPI_SUCCESS);
        little = before;
        little.rlim_cur = address_space() + (size_t) count * sizeof *vector / 4;
        expect(setrlimit(RLIMIT_AS, &little), 0);
        expect_no_memory(sum(vector, count, broken));
        expect_no_memory(sum(vector, 1000, broken));
        expect_no_memory(MPI_Barrier(broken));
        expect_no_memory(
            MPI_Iallreduce(MPI_IN_PLACE, vector, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
        expect_no_memory(MPIX_Allreduce_init(MPI_IN_PLACE, vector, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                             MPI_INFO_NULL, &request));
        expect(sum(vector, 2000, MPI_COMM_WORLD), MPI_SUCCESS);
        expect(setrlimit(RLIMIT_AS, &before), 0);
        expect(sum(vector, count, MPI_COMM_WORLD), MPI_SUCCESS);
        /* Memory that this large call kept would serve the next round. */
        expect(sum(vector, 10, MPI_COMM_WORLD), MPI_SUCCESS);
        expect_no_memory(sum(vector, 10, broken));
        MPI_Comm_free(&broken);
    }
}

/* The last rank's temporary memory holds two of the vector's three blocks, more than any other's. */
static void test_kept(int *vector, int count)
{
    expect(sum(vector, 1000, MPI_COMM_WORLD), MPI_SUCCESS);
    size_t before = address_space();
    for (int i = 0; i < 3; i++) {
        expect(sum(vector, count, MPI_COMM_WORLD), MPI_SUCCESS);
    }
    size_t after = address_space();
    if (size - 1 == rank) {
        printf("%s kept\n", after - before > (size_t) count * sizeof *vector / 2 ? "much" : "little");
    }
}

static size_t allocated(void)
{
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 all = mallinfo2();
#else
    const struct mallinfo all = mallinfo();
#endif
    return (size_t) all.uordblks + (size_t) all.hblkhd;
}

/* Four non-blocking calls in turn, of which each needs another copy of two thirds of the vector. */
static void test_requests(int *vector, int count)
{
    enum { CALLS = 4 };
    expect(sum(vector, 1000, MPI_COMM_WORLD), MPI_SUCCESS);
    const size_t before = allocated();
    for (int i = 0; i < 3 * CALLS; i++) {
        MPI_Request request;
        expect(MPI_Iallreduce(MPI_IN_PLACE, vector, count - i % CALLS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
               MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (size - 1 == rank) {
        printf("copies kept: %.0f\n", ((double) allocated() - (double) before) / ((double) count * sizeof *vector));
    }
}

/* Prints how many bytes the last rank keeps for each of many duplicates: before their first call, and after it. */
static void test_duplicates(void)
{
    enum { DUPLICATES = 500 };
    MPI_Comm duplicates[DUPLICATES];
    size_t kept[3];
    for (int stage = 0; stage < 3; stage++) {
        for (int i = 0; i < DUPLICATES; i++) {
            int sum = 1;
            if (1 == stage) {
                MPI_Comm_dup(MPI_COMM_WORLD, &duplicates[i]);
            } else {
                MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, 0 == stage ? MPI_COMM_WORLD : duplicates[i]);
            }
        }
        kept[stage] = allocated();
    }
    if (size - 1 == rank) {
        printf("kept: %zu %zu\n", (kept[1] - kept[0]) / DUPLICATES, (kept[2] - kept[0]) / DUPLICATES);
    }
    for (int i = 0; i < DUPLICATES; i++) {
        MPI_Comm_free(&duplicates[i]);
    }
}

/* Makes a duplicate, calls an allreduce on it in one of the three forms, and frees the duplicate. */
static void use_duplicate(int form)
{
    int sum = 1;
    MPI_Comm duplicate;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    if (0 == form) {
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, duplicate);
    } else if (1 == form) {
        MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, duplicate, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPIX_Allreduce_init(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, duplicate, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    expect(sum, size);
    MPI_Comm_free(&duplicate);
}

/* Prints how many bytes some rank keeps at most for each duplicate that it has used and freed: allocated ones, and those of its address space. */
static void test_freed(void)
{
    enum { FIRST = 200, MORE = 2000, FORMS = 3 };
    size_t before[2] = {0, 0};
    double most[2];
    for (int i = 0; i < FIRST + MORE; i++) {
        if (FIRST == i) {
            before[0] = allocated();
            before[1] = address_space();
        }
        use_duplicate(i % FORMS);
    }
    const double kept[2] = {((double) allocated() - (double) before[0]) / MORE,
                            ((double) address_space() - (double) before[1]) / MORE};
    MPI_Reduce(kept, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("kept: %.0f %.0f\n", most[0], most[1]);
    }
}

int main(int argc, char **argv)
{
    const int count = 20 << 20;
    /* So many that the default of coll_rustcoll_scratch_kept has no room for two thirds of them. */
    const int many = 28 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int *vector = calloc((size_t) many, sizeof *vector);
    const char *test = argc > 1 ? argv[1] : "";
    if (0 == strcmp(test, "limit")) {
        test_limit(vector, count / 100);
    } else if (0 == strcmp(test, "root")) {
        test_root(vector, count / 100);
    } else if (0 == strcmp(test, "exchange")) {
        test_exchange(vector, count / 100);
    } else if (0 == strcmp(test, "requests")) {
        test_requests(vector, count / 10);
    } else if (0 == strcmp(test, "shortage")) {
        test_shortage(vector, count);
    } else if (0 == strcmp(test, "duplicates")) {
        test_duplicates();
    } else if (0 == strcmp(test, "freed")) {
        test_freed();
    } else {
        test_kept(vector, many);
    }
    free(vector);
    return verdict(wrong);
}
