/* Waits until all ranks of the job have loaded the library. They exchange messages with a tag of their own, before
 * anything else: a rank without the library is already in the program's calls, and would match a collective. */

#include "interpose.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

/* A tag that every MPI has; and the seconds after which a waiting rank warns, and ends the job. */
enum { TAG = 29127, PATIENCE = 20, END = 300 };

static time_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Waits until a message from a rank has come, and one to another rank is sent. */
static void await(MPI_Request exchange[2], int rank)
{
    const time_t start = seconds();
    MPI_Status statuses[2];
    int are_complete = 0, is_told = 0;
    while (MPI_SUCCESS == PMPI_Testall(2, exchange, &are_complete, statuses) && !are_complete) {
        sched_yield();
        if (!is_told && seconds() - start > PATIENCE) {
            is_told = 1;
            fprintf(stderr, "rustcoll: rank %d has not answered in MPI_Init for %d seconds; is the library loaded before all ranks?\n", rank,
                    PATIENCE);
        }
        if (seconds() - start > END) {
            rustcoll_end_job("rustcoll: rank %d has not answered in MPI_Init for %d seconds; ending the job", rank, END);
        }
    }
}

/* A rank leaves when all ranks have come: in each round, it hears through others of twice as many ranks. */
void rustcoll_meet(void)
{
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int distance = 1; distance < size; distance *= 2) {
        const int from = (rank + size - distance) % size, to = (rank + distance) % size;
        MPI_Request exchange[2];
        PMPI_Irecv(NULL, 0, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &exchange[0]);
        PMPI_Isend(NULL, 0, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &exchange[1]);
        await(exchange, from);
    }
}
