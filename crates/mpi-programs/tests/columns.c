/* Reductions of the columns of a matrix by an operator of the program's own. Columns interleave: each begins 8 bytes behind the one before.
 * Also reductions of an element without extent: the next element of a vector would begin at the same address. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 8 };
typedef double matrix[N][N];

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const double *left = in;
    double *right = inout;
    for (int column = 0; column < *length; column++) {
        for (int row = 0; row < N; row++) {
            right[N * row + column] += left[N * row + column];
        }
    }
}

/* Fills a matrix with the sum over the first `ranks` ranks, from `rank` on. */
static void fill(matrix all, int rank, int ranks)
{
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            all[row][column] = 0;
            for (int i = rank; i < rank + ranks; i++) {
                all[row][column] += 100 * i + 10 * row + column;
            }
        }
    }
}

static int differs(const char *what, matrix found, int rank, int ranks)
{
    matrix expected;
    fill(expected, rank, ranks);
    const int is_wrong = 0 != memcmp(found, expected, sizeof expected);
    if (is_wrong) {
        printf("%s is wrong\n", what);
    }
    return is_wrong;
}

enum { PLACES = 4 };

static void add_places(void *in, void *inout, int *length, MPI_Datatype *type)
{
    for (int place = 0; place < PLACES; place++) {
        ((int *) inout)[place] += ((int *) in)[place];
    }
}

static int differs_in_places(const char *what, const int found[PLACES], int ranks)
{
    for (int place = 0; place < PLACES; place++) {
        if (found[place] != 100 * ranks * (ranks - 1) / 2 + place * ranks) {
            printf("%s of an element without extent is wrong\n", what);
            return 1;
        }
    }
    return 0;
}

static int count_wrong_without_extent(int rank, int size)
{
    int wrong = 0, own[PLACES], result[PLACES];
    MPI_Datatype places, type;
    MPI_Op op;
    MPI_Type_contiguous(PLACES, MPI_INT, &places);
    MPI_Type_create_resized(places, 0, 0, &type);
    MPI_Type_commit(&type);
    for (int place = 0; place < PLACES; place++) {
        own[place] = 100 * rank + place;
    }
    for (int commutes = 0; commutes <= 1; commutes++) {
        MPI_Op_create(add_places, commutes, &op);
        for (int root = 0; root < size; root++) {
            MPI_Reduce(own, result, 1, type, op, root, MPI_COMM_WORLD);
            wrong += root == rank && differs_in_places("MPI_Reduce", result, size);
        }
        MPI_Allreduce(own, result, 1, type, op, MPI_COMM_WORLD);
        wrong += differs_in_places("MPI_Allreduce", result, size);
        memcpy(result, own, sizeof own);
        MPI_Allreduce(MPI_IN_PLACE, result, 1, type, op, MPI_COMM_WORLD);
        wrong += differs_in_places("MPI_Allreduce in place", result, size);
        MPI_Scan(own, result, 1, type, op, MPI_COMM_WORLD);
        wrong += differs_in_places("MPI_Scan", result, rank + 1);
        MPI_Exscan(own, result, 1, type, op, MPI_COMM_WORLD);
        wrong += 0 != rank && differs_in_places("MPI_Exscan", result, rank);
        MPI_Op_free(&op);
    }
    MPI_Type_free(&type);
    MPI_Type_free(&places);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all;
    matrix own, result;
    MPI_Datatype spread, column;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(N, 1, N, MPI_DOUBLE, &spread);
    MPI_Type_create_resized(spread, 0, sizeof(double), &column);
    MPI_Type_commit(&column);
    for (int commutes = 0; commutes <= 1; commutes++) {
        MPI_Op_create(add, commutes, &op);
        for (int root = 0; root < size; root++) {
            fill(own, rank, 1);
            memset(result, 0, sizeof result);
            MPI_Reduce(own, result, N, column, op, root, MPI_COMM_WORLD);
            wrong += root == rank && differs("MPI_Reduce", result, 0, size);
        }
        MPI_Allreduce(own, result, N, column, op, MPI_COMM_WORLD);
        wrong += differs("MPI_Allreduce", result, 0, size);
        memcpy(result, own, sizeof own);
        MPI_Allreduce(MPI_IN_PLACE, result, N, column, op, MPI_COMM_WORLD);
        wrong += differs("MPI_Allreduce in place", result, 0, size);
        MPI_Scan(own, result, N, column, op, MPI_COMM_WORLD);
        wrong += differs("MPI_Scan", result, 0, rank + 1);
        MPI_Exscan(own, result, N, column, op, MPI_COMM_WORLD);
        wrong += 0 != rank && differs("MPI_Exscan", result, 0, rank);
        wrong += differs("the input", own, rank, 1);
        MPI_Op_free(&op);
    }
    wrong += count_wrong_without_extent(rank, size);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%d wrong\n", all);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&spread);
    MPI_Finalize();
    return 0;
}
