/* Persistent and non-blocking collectives that a Fortran program begins. For each call Open MPI makes arrays of C's handles, keeps them in
 * the request, and frees them when the request is freed. This program calls the functions of Fortran's interface, so it needs no Fortran
 * compiler. If the system overwrites what is freed (GLIBC_TUNABLES), a request that is used after it was freed ends the job. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 100 };

/* In Fortran all arguments are addresses, and handles are numbers. */
void mpi_alltoallw_init_(void *send, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recv, MPI_Fint *recvcounts,
                         MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *communicator, MPI_Fint *info, MPI_Fint *request, MPI_Fint *error);
void mpi_ialltoallw_(void *send, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recv, MPI_Fint *recvcounts,
                     MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *communicator, MPI_Fint *request, MPI_Fint *error);
void mpi_start_(MPI_Fint *request, MPI_Fint *error);
void mpi_wait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error);
void mpi_request_free_(MPI_Fint *request, MPI_Fint *error);

static int rank, size, wrong;
static MPI_Fint request, error;

static void check(int is_right, const char *what)
{
    if (!is_right) {
        printf("rank %d: %s is wrong\n", rank, what);
        wrong = 1;
    }
}

static void await(void)
{
    MPI_Fint status[MPI_F_STATUS_SIZE];
    mpi_wait_(&request, status, &error);
    check(MPI_SUCCESS == error, "the end of a call");
}

/* Each rank sends a number to each, of a datatype of its own. */
static void exchange(int is_persistent, MPI_Datatype number)
{
    int send[16], recv[16];
    MPI_Fint counts[16], places[16], types[16], communicator = MPI_Comm_c2f(MPI_COMM_WORLD), info = MPI_Info_c2f(MPI_INFO_NULL);
    for (int i = 0; i < size; i++) {
        send[i] = 100 * rank + i;
        recv[i] = -1;
        counts[i] = 1;
        places[i] = (MPI_Fint) (i * sizeof(int));
        types[i] = MPI_Type_c2f(i % 2 ? number : MPI_INT);
    }
    MPI_Fint received[16];
    for (int i = 0; i < size; i++) {
        received[i] = MPI_Type_c2f(rank % 2 ? number : MPI_INT);
    }
    if (is_persistent) {
        mpi_alltoallw_init_(send, counts, places, types, recv, counts, places, received, &communicator, &info, &request, &error);
        check(MPI_SUCCESS == error, "a new persistent alltoallw");
        mpi_start_(&request, &error);
        await();
        mpi_request_free_(&request, &error);
        check(MPI_SUCCESS == error, "the end of a persistent alltoallw");
    } else {
        mpi_ialltoallw_(send, counts, places, types, recv, counts, places, received, &communicator, &request, &error);
        await();
    }
    for (int i = 0; i < size; i++) {
        check(100 * i + rank == recv[i], is_persistent ? "a persistent alltoallw" : "a non-blocking alltoallw");
    }
}

int main(int count, char **arguments)
{
    MPI_Datatype number;
    int all_wrong;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < CALLS; i++) {
        MPI_Type_contiguous(1, MPI_INT, &number);
        MPI_Type_commit(&number);
        exchange(i % 2, number);
        MPI_Type_free(&number);
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == rank && !all_wrong) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return all_wrong;
}
