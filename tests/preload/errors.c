/* MPI refuses operators on datatypes on which they are not defined, at all ranks and before it sends anything. A program that has errors
 * returned to it goes on. */

#include <complex.h>
#include <mpi.h>
#include <stdio.h>

static int rank, size, wrong;

static void check(int is_right, const char *what)
{
    if (!is_right) {
        printf("rank %d: %s is wrong\n", rank, what);
        wrong = 1;
    }
}

static void expect_refusal(int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    check(MPI_ERR_OP == class, "the error of an operator that is not defined on the datatype");
}

static void refused(MPI_Op operator_, MPI_Datatype datatype)
{
    static double complex send[64], recv[64];
    MPI_Request request;
    expect_refusal(MPI_Allreduce(send, recv, 1, datatype, operator_, MPI_COMM_WORLD));
    expect_refusal(MPI_Allreduce(MPI_IN_PLACE, recv, 1, datatype, operator_, MPI_COMM_WORLD));
    expect_refusal(MPI_Reduce(send, recv, 1, datatype, operator_, 0, MPI_COMM_WORLD));
    expect_refusal(MPI_Scan(send, recv, 1, datatype, operator_, MPI_COMM_WORLD));
    expect_refusal(MPI_Iallreduce(send, recv, 1, datatype, operator_, MPI_COMM_WORLD, &request));
#if MPI_VERSION >= 4
    expect_refusal(MPI_Allreduce_init(send, recv, 1, datatype, operator_, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
#endif
}

/* Calls that MPI accepts are right before and after refused ones. */
static void accepted(void)
{
    const struct {
        float value;
        int place;
    } own = {(float) rank, rank};
    struct {
        float value;
        int place;
    } first;
    double complex number = rank + I, sum;
    int ranks = rank, most;
    MPI_Allreduce(&ranks, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(size - 1 == most, "a maximum");
    MPI_Allreduce(&number, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    check(size * (size - 1) / 2 + size * I == sum, "a complex sum");
    MPI_Allreduce(&own, &first, 1, MPI_FLOAT_INT, MPI_MINLOC, MPI_COMM_WORLD);
    check(0 == first.value && 0 == first.place, "the place of a minimum");
}

int main(int argc, char **argv)
{
    MPI_Datatype pair;
    int all_wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < 3; i++) {
        refused(MPI_SUM, pair);
        refused(MPI_MAX, MPI_C_DOUBLE_COMPLEX);
        refused(MPI_MINLOC, MPI_DOUBLE);
        accepted();
    }
    MPI_Type_free(&pair);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == rank && !all_wrong) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return all_wrong;
}
