/* A user's program that makes known numbers of calls, and a tool's session that counts some of them. It
 * prints the session's counts in lines "variable: value value ...". With an argument it also makes a
 * communicator of half of the ranks. For this, MPI makes calls of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Before MPI 4, persistent collectives were an extension. */
#if OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Scan_init MPIX_Scan_init
#endif

enum { CALLS = 10, COUNT = 3 };

static int rank;

static void allreduce(MPI_Comm communicator)
{
    int ones[COUNT] = {1, 1, 1}, sums[COUNT];
    MPI_Allreduce(ones, sums, COUNT, MPI_INT, MPI_SUM, communicator);
}

static void alltoall(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *sent = calloc(2 * (size_t) size, sizeof *sent);
    MPI_Alltoall(sent, 1, MPI_INT, sent + size, 1, MPI_INT, MPI_COMM_WORLD);
    free(sent);
}

static void start_and_wait(MPI_Request *request, int is_persistent)
{
    if (is_persistent) {
        MPI_Start(request);
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void broadcast_without_blocking(void)
{
    double value = 1;
    MPI_Request request;
    for (int i = 0; i < CALLS; i++) {
        MPI_Ibcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
        start_and_wait(&request, 0);
    }
}

static void scan_persistently(void)
{
    int one = 1, sum;
    MPI_Request request;
    MPI_Scan_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < CALLS; i++) {
        start_and_wait(&request, 1);
    }
    MPI_Request_free(&request);
}

/* A performance variable of the tool's session. */
typedef struct counted {
    const char *name;
    int class, count;
    MPI_T_pvar_handle handle;
} counted;

static void find(MPI_T_pvar_session session, counted *counted)
{
    int index;
    if (MPI_SUCCESS != MPI_T_pvar_get_index(counted->name, counted->class, &index)
        || MPI_SUCCESS != MPI_T_pvar_handle_alloc(session, index, NULL, &counted->handle, &counted->count)) {
        printf("%s is missing\n", counted->name);
        exit(1);
    }
}

static void print(MPI_T_pvar_session session, const counted *counted)
{
    union {
        unsigned long long number;
        double seconds;
    } values[64];
    MPI_T_pvar_read(session, counted->handle, values);
    printf("%s:", counted->name);
    for (int i = 0; i < counted->count; i++) {
        if (MPI_T_PVAR_CLASS_TIMER == counted->class) {
            printf(" %s", 0 < values[i].seconds && 60 > values[i].seconds ? "some" : "0");
        } else {
            printf(" %llu", values[i].number);
        }
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_pvar_session session;
    counted variables[] = {
        {"coll_rustcoll_allreduce_calls", MPI_T_PVAR_CLASS_COUNTER},
        {"coll_rustcoll_allreduce_bytes", MPI_T_PVAR_CLASS_AGGREGATE},
        {"coll_rustcoll_allreduce_time", MPI_T_PVAR_CLASS_TIMER},
    };
    const int number = sizeof variables / sizeof *variables;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < number; i++) {
        find(session, &variables[i]);
    }
    allreduce(MPI_COMM_WORLD); /* before the session counts */
    for (int i = 0; i < number; i++) {
        MPI_T_pvar_start(session, variables[i].handle);
    }
    for (int i = 0; i < CALLS; i++) {
        allreduce(MPI_COMM_WORLD);
    }
    for (int i = 0; i < number; i++) {
        MPI_T_pvar_stop(session, variables[i].handle);
    }
    allreduce(MPI_COMM_WORLD); /* after the session stopped counting */
    for (int i = 0; i < number && 0 == rank; i++) {
        print(session, &variables[i]);
    }
    for (int i = 0; i < number; i++) {
        MPI_T_pvar_handle_free(session, &variables[i].handle);
    }
    MPI_T_pvar_session_free(&session);
    alltoall();
    broadcast_without_blocking();
    scan_persistently();
    MPI_Barrier(MPI_COMM_WORLD);
    if (1 < argc) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        allreduce(half);
        MPI_Comm_free(&half);
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
