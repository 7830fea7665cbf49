/* Error handlers of a program: MPI calls one once for a freed communicator; one may free its communicator while a collective runs; and that of a
 * freed communicator gets the errors of its operations in flight. */

#include <mpi.h>
#include <stdio.h>

static int rank, wrong, calls;

static void check(int is_right, const char *what)
{
    if (!is_right) {
        printf("rank %d: %s is wrong\n", rank, what);
        wrong = 1;
    }
}

static void count(MPI_Comm *communicator, int *error, ...) { calls++; }

static void free_communicator(MPI_Comm *communicator, int *error, ...)
{
    MPI_Comm own = *communicator;
    calls++;
    MPI_Comm_free(&own);
}

static MPI_Comm with_handler(MPI_Comm_errhandler_function *function)
{
    MPI_Comm communicator;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(communicator, handler);
    MPI_Errhandler_free(&handler);
    MPI_Barrier(communicator);
    calls = 0;
    return communicator;
}

/* MPI raises this error on one of these two. */
static void set_everywhere(MPI_Errhandler handler)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

static void barrier_on_a_freed_communicator(void)
{
    MPI_Comm communicator = with_handler(count), freed = communicator;
    MPI_Errhandler handler;
    MPI_Request request;
    int class;
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_free(&communicator);
    set_everywhere(handler);
    MPI_Error_class(MPI_Barrier(freed), &class);
    check(MPI_ERR_COMM == class && 1 == calls, "a barrier on a freed communicator");
    MPI_Error_class(MPI_Ibarrier(freed, &request), &class);
    check(MPI_ERR_COMM == class && 2 == calls, "an ibarrier on a freed communicator");
    set_everywhere(MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/* MPI refuses these buffers, because they are the same. */
static void handler_that_frees(void)
{
    int number = 0;
    for (int i = 0; i < 10; i++) {
        MPI_Comm communicator = with_handler(free_communicator);
        MPI_Allreduce(&number, &number, 1, MPI_INT, MPI_SUM, communicator);
        check(1 == calls, "a handler that frees the communicator");
    }
}

/* Rank 0 sends more than the others expect, once they have freed the communicator. */
static void error_after_the_end(void)
{
    MPI_Comm communicator = with_handler(count);
    MPI_Request request;
    int numbers[2] = {0, 0};
    if (0 == rank) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Ibcast(numbers, 0 == rank ? 2 : 1, MPI_INT, 0, communicator, &request);
    MPI_Comm_free(&communicator);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (0 != rank) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check(0 == rank || MPI_SUCCESS != error, "the error of an operation on a freed communicator");
    check(0 == rank || 1 == calls, "the handler of a freed communicator");
}

int main(int argc, char **argv)
{
    int all_wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    barrier_on_a_freed_communicator();
    handler_that_frees();
    if (1 < argc) {
        error_after_the_end();
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == rank && !all_wrong) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return all_wrong;
}
