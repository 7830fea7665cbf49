/* Reductions by operators of the program's own, by the rules and by each algorithm in turn. The elements are unusual: columns of a matrix, which
 * interleave, and an element without extent, behind which the next one would begin at the same address. */
#include "algorithms.h"
#include "verdict.h"

enum { N = 8 };
typedef double matrix[N][N];

/* A vector whose elements lie within one matrix. */
typedef struct vector {
    const char *name;
    int count;
    MPI_Datatype type;
    MPI_User_function *add;
} vector;

static int rank, size, wrong;
static MPI_Op op;

static void add_columns(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const double *left = in;
    double *right = inout;
    (void) type;
    for (int column = 0; column < *length; column++) {
        for (int row = 0; row < N; row++) {
            right[N * row + column] += left[N * row + column];
        }
    }
}

/* All elements of a vector lie at the same address, so a vector has one. */
static void add_all(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int one = N;
    (void) length;
    add_columns(in, inout, &one, type);
}

/* Fills a matrix with the sum over the first `ranks` ranks, from `first` on. */
static void fill(matrix all, int first, int ranks)
{
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            all[row][column] = 0;
            for (int i = first; i < first + ranks; i++) {
                all[row][column] += 100 * i + 10 * row + column;
            }
        }
    }
}

static void check(const char *by, const char *what, const vector *v, matrix found, int first, int ranks)
{
    matrix expected;
    fill(expected, first, ranks);
    if (0 != memcmp(found, expected, sizeof expected)) {
        printf("%s of %s by %s is wrong\n", what, v->name, by);
        wrong++;
    }
}

static void reduce(const char *by, const vector *v)
{
    matrix own, result;
    fill(own, rank, 1);
    for (int root = 0; root < size; root++) {
        memset(result, 0, sizeof result);
        MPI_Reduce(own, result, v->count, v->type, op, root, MPI_COMM_WORLD);
        if (root == rank) {
            check(by, "MPI_Reduce", v, result, 0, size);
        }
    }
    check(by, "the input of MPI_Reduce", v, own, rank, 1);
}

static void allreduce(const char *by, const vector *v)
{
    matrix own, result;
    fill(own, rank, 1);
    MPI_Allreduce(own, result, v->count, v->type, op, MPI_COMM_WORLD);
    check(by, "MPI_Allreduce", v, result, 0, size);
    check(by, "the input of MPI_Allreduce", v, own, rank, 1);
    MPI_Allreduce(MPI_IN_PLACE, own, v->count, v->type, op, MPI_COMM_WORLD);
    check(by, "MPI_Allreduce in place", v, own, 0, size);
}

static void scan(const char *by, const vector *v)
{
    matrix own, result;
    fill(own, rank, 1);
    MPI_Scan(own, result, v->count, v->type, op, MPI_COMM_WORLD);
    check(by, "MPI_Scan", v, result, 0, rank + 1);
    check(by, "the input of MPI_Scan", v, own, rank, 1);
}

static void exscan(const char *by, const vector *v)
{
    matrix own, result;
    fill(own, rank, 1);
    MPI_Exscan(own, result, v->count, v->type, op, MPI_COMM_WORLD);
    if (0 != rank) {
        check(by, "MPI_Exscan", v, result, 0, rank);
    }
    check(by, "the input of MPI_Exscan", v, own, rank, 1);
}

/* Makes the calls of a collective with operators that commute and that do not, by each of its algorithms and by the rules. */
static int by_each_algorithm(const char *collective, void (*call)(const char *by, const vector *v), const vector *vectors, int number)
{
    algorithms all;
    if (!find_algorithms(&all, collective)) {
        return 0;
    }
    for (int i = 0; i < all.number; i++) {
        const char *by = force(&all, i);
        for (int j = 0; j < 2 * number; j++) {
            const vector *v = &vectors[j / 2];
            MPI_Op_create(v->add, j % 2, &op);
            call(by, v);
            MPI_Op_free(&op);
        }
    }
    release(&all);
    return all.number;
}

int main(int argc, char **argv)
{
    MPI_Datatype spread, column, whole, all;
    int number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(N, 1, N, MPI_DOUBLE, &spread);
    MPI_Type_create_resized(spread, 0, sizeof(double), &column);
    MPI_Type_commit(&column);
    MPI_Type_contiguous(N * N, MPI_DOUBLE, &whole);
    MPI_Type_create_resized(whole, 0, 0, &all);
    MPI_Type_commit(&all);
    const vector vectors[] = {{"columns", N, column, add_columns}, {"an element without extent", 1, all, add_all}};
    number += by_each_algorithm("reduce", reduce, vectors, 2);
    number += by_each_algorithm("allreduce", allreduce, vectors, 2);
    number += by_each_algorithm("scan", scan, vectors, 2);
    number += by_each_algorithm("exscan", exscan, vectors, 2);
    if (0 == rank) {
        printf("%d algorithms\n", number);
    }
    MPI_Type_free(&all);
    MPI_Type_free(&whole);
    MPI_Type_free(&column);
    MPI_Type_free(&spread);
    return verdict(wrong);
}
