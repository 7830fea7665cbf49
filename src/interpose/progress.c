/* MPI's calls that wait or test. They advance the operations of this library; while none is in flight, and no other thread can start one, they
 * are MPI's own. */

#include "interpose.h"

#include <sched.h>

/* How often to look before another process gets the processor. */
enum { LOOKS = 64 };

int rustcoll_waits_in_steps(void)
{
    return 0 < rustcoll_under_way || (rustcoll_serves_nonblocking() && rustcoll_shim_is_threaded());
}

/* Whether to look again at something that is not complete. From the second look on, advances the operations before it. */
static int looks_again(unsigned *look, int error, int is_complete)
{
    if (MPI_SUCCESS != error || is_complete) {
        return 0;
    }
    if (0 < (*look)++) {
        rustcoll_go_on();
        if (rustcoll_shim_is_crowded() || 0 == *look % LOOKS) {
            sched_yield();
        }
    }
    return rustcoll_waits_in_steps();
}

void rustcoll_wait_until_it_can_send(rustcoll_state *state)
{
    for (unsigned look = 0; !rustcoll_can_send(state);) {
        looks_again(&look, MPI_SUCCESS, 0);
    }
}

int rustcoll_wait_for(MPI_Request *request, MPI_Status *status)
{
    int is_complete = 0, error = MPI_SUCCESS;
    for (unsigned look = 0; looks_again(&look, error, is_complete);) {
        error = PMPI_Test(request, &is_complete, status);
    }
    return MPI_SUCCESS == error && !is_complete ? PMPI_Wait(request, status) : error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) { return rustcoll_wait_for(request, status); }

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int are_complete = 0, error = MPI_SUCCESS;
    for (unsigned look = 0; looks_again(&look, error, are_complete);) {
        error = PMPI_Testall(count, requests, &are_complete, statuses);
    }
    return MPI_SUCCESS == error && !are_complete ? PMPI_Waitall(count, requests, statuses) : error;
}

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    int is_complete = 0, error = MPI_SUCCESS;
    for (unsigned look = 0; looks_again(&look, error, is_complete);) {
        error = PMPI_Testany(count, requests, index, &is_complete, status);
    }
    return MPI_SUCCESS == error && !is_complete ? PMPI_Waitany(count, requests, index, status) : error;
}

int MPI_Waitsome(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
{
    int error = MPI_SUCCESS;
    *completed = 0;
    for (unsigned look = 0; looks_again(&look, error, 0 != *completed);) {
        error = PMPI_Testsome(count, requests, completed, indices, statuses);
    }
    return MPI_SUCCESS == error && 0 == *completed ? PMPI_Waitsome(count, requests, completed, indices, statuses)
                                                   : error;
}

int MPI_Test(MPI_Request *request, int *is_complete, MPI_Status *status)
{
    rustcoll_go_on();
    return PMPI_Test(request, is_complete, status);
}

int MPI_Testall(int count, MPI_Request *requests, int *are_complete, MPI_Status *statuses)
{
    rustcoll_go_on();
    return PMPI_Testall(count, requests, are_complete, statuses);
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *is_complete, MPI_Status *status)
{
    rustcoll_go_on();
    return PMPI_Testany(count, requests, index, is_complete, status);
}

int MPI_Testsome(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
{
    rustcoll_go_on();
    return PMPI_Testsome(count, requests, completed, indices, statuses);
}

int MPI_Request_get_status(MPI_Request request, int *is_complete, MPI_Status *status)
{
    rustcoll_go_on();
    return PMPI_Request_get_status(request, is_complete, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm communicator, int *is_there, MPI_Status *status)
{
    rustcoll_go_on();
    return PMPI_Iprobe(source, tag, communicator, is_there, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm communicator, int *is_there, MPI_Message *message, MPI_Status *status)
{
    rustcoll_go_on();
    return PMPI_Improbe(source, tag, communicator, is_there, message, status);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#ifdef I_MPI_VERSION
/* The header of Intel MPI 2021 leaves out the standard's const. */
typedef MPI_Request asked_request;
#else
typedef const MPI_Request asked_request;
#endif

int MPI_Request_get_status_any(int count, asked_request *requests, int *index, int *is_complete, MPI_Status *status)
{
    rustcoll_go_on();
    return PMPI_Request_get_status_any(count, requests, index, is_complete, status);
}

int MPI_Request_get_status_all(int count, asked_request *requests, int *are_complete, MPI_Status *statuses)
{
    rustcoll_go_on();
    return PMPI_Request_get_status_all(count, requests, are_complete, statuses);
}

int MPI_Request_get_status_some(int count, asked_request *requests, int *completed, int *indices,
                                MPI_Status *statuses)
{
    rustcoll_go_on();
    return PMPI_Request_get_status_some(count, requests, completed, indices, statuses);
}
#endif

#if MPI_VERSION >= 4
int MPI_Parrived(MPI_Request request, int partition, int *is_there)
{
    rustcoll_go_on();
    return PMPI_Parrived(request, partition, is_there);
}
#endif

int MPI_Win_test(MPI_Win window, int *is_complete)
{
    rustcoll_go_on();
    return PMPI_Win_test(window, is_complete);
}

/* Blocking calls wait in small steps where operations of this library may be in flight: other processes may wait for these operations. */

int MPI_Probe(int source, int tag, MPI_Comm communicator, MPI_Status *status)
{
    int is_there = 0, error = MPI_SUCCESS;
    for (unsigned look = 0; looks_again(&look, error, is_there);) {
        error = PMPI_Iprobe(source, tag, communicator, &is_there, status);
    }
    return MPI_SUCCESS == error && !is_there ? PMPI_Probe(source, tag, communicator, status) : error;
}

int MPI_Mprobe(int source, int tag, MPI_Comm communicator, MPI_Message *message, MPI_Status *status)
{
    int is_there = 0, error = MPI_SUCCESS;
    for (unsigned look = 0; looks_again(&look, error, is_there);) {
        error = PMPI_Improbe(source, tag, communicator, &is_there, message, status);
    }
    return MPI_SUCCESS == error && !is_there ? PMPI_Mprobe(source, tag, communicator, message, status) : error;
}
