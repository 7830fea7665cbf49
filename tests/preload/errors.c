/* Wrong arguments are refused before anything is sent: operators on datatypes on which they are not defined, and MPI_IN_PLACE where it may not
 * stand, by MPI; illegal roots and counts by rustcoll. A program that has errors returned to it goes on. */

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

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}

static void expect_refusal(int error)
{
    check(MPI_ERR_OP == class_of(error), "the error of an operator that is not defined on the datatype");
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

/* Roots and counts that are illegal at all ranks. */
static void illegal_everywhere(void)
{
    int send[64] = {0}, recv[64];
    check(MPI_ERR_ROOT == class_of(MPI_Bcast(recv, 1, MPI_INT, size, MPI_COMM_WORLD)), "the error of a root beyond all ranks");
    check(MPI_ERR_ROOT == class_of(MPI_Reduce(send, recv, 1, MPI_INT, MPI_SUM, -7, MPI_COMM_WORLD)), "the error of a negative root");
    check(MPI_ERR_COUNT == class_of(MPI_Bcast(recv, -1, MPI_INT, 0, MPI_COMM_WORLD)), "the error of a negative count");
    check(MPI_ERR_COUNT == class_of(MPI_Allreduce(send, recv, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)), "the error of a negative count");
    check(MPI_ERR_COUNT == class_of(MPI_Allgather(send, -1, MPI_INT, recv, -1, MPI_INT, MPI_COMM_WORLD)), "the error of a negative count");
    check(MPI_ERR_COUNT == class_of(MPI_Alltoall(send, -1, MPI_INT, recv, -1, MPI_INT, MPI_COMM_WORLD)), "the error of a negative count");
}

/* MPI_IN_PLACE on an inter-communicator, and in place of a buffer for results. */
static void wrongly_in_place(MPI_Comm inter)
{
    int send[64] = {0}, recv[64];
    check(MPI_ERR_BUFFER == class_of(MPI_Allreduce(MPI_IN_PLACE, recv, 1, MPI_INT, MPI_SUM, inter)), "the error of groups' allreduce in place");
    check(MPI_ERR_BUFFER == class_of(MPI_Allreduce(send, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)), "the error of a result in place");
    check(MPI_ERR_BUFFER == class_of(MPI_Allgather(send, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD)), "the error of a result in place");
}

static MPI_Comm between_groups(void)
{
    MPI_Comm own, inter;
    MPI_Comm_split(MPI_COMM_WORLD, 0 == rank, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 0 == rank ? 1 : 0, 0, &inter);
    MPI_Comm_free(&own);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    return inter;
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
    MPI_Comm inter = between_groups();
    for (int i = 0; i < 3; i++) {
        refused(MPI_SUM, pair);
        refused(MPI_MAX, MPI_C_DOUBLE_COMPLEX);
        refused(MPI_MINLOC, MPI_DOUBLE);
        accepted();
        illegal_everywhere();
        accepted();
        wrongly_in_place(inter);
        accepted();
    }
    MPI_Comm_free(&inter);
    MPI_Type_free(&pair);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == rank && !all_wrong) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return all_wrong;
}
