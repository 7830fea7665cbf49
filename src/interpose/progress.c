/* MPI's calls that wait or test. Operations of this library go on within them; while none is under way they are MPI's own. */

#include "interpose.h"

#include <sched.h>
#include <stdlib.h>

/* How often to look before another process may have the processor. */
enum { LOOKS = 64 };

/* Whether to look again at something that is not complete, because operations are under way; from the second look on they go on before. */
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
    return 0 < rustcoll_under_way;
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

/* What blocks does so in small steps, while operations of this library are under way: other processes may wait for these. */

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

int MPI_Mrecv(void *buffer, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    if (0 == rustcoll_under_way) {
        return PMPI_Mrecv(buffer, count, datatype, message, status);
    }
    MPI_Request request;
    int error = PMPI_Imrecv(buffer, count, datatype, message, &request);
    return MPI_SUCCESS == error ? rustcoll_wait_for(&request, status) : error;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm communicator,
             MPI_Status *status)
{
    if (0 == rustcoll_under_way) {
        return PMPI_Recv(buffer, count, datatype, source, tag, communicator, status);
    }
    MPI_Request request;
    int error = PMPI_Irecv(buffer, count, datatype, source, tag, communicator, &request);
    return MPI_SUCCESS == error ? rustcoll_wait_for(&request, status) : error;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype datatype, int target, int tag, MPI_Comm communicator)
{
    if (0 == rustcoll_under_way) {
        return PMPI_Send(buffer, count, datatype, target, tag, communicator);
    }
    MPI_Request request;
    int error = PMPI_Isend(buffer, count, datatype, target, tag, communicator, &request);
    return MPI_SUCCESS == error ? rustcoll_wait_for(&request, MPI_STATUS_IGNORE) : error;
}

int MPI_Ssend(const void *buffer, int count, MPI_Datatype datatype, int target, int tag, MPI_Comm communicator)
{
    if (0 == rustcoll_under_way) {
        return PMPI_Ssend(buffer, count, datatype, target, tag, communicator);
    }
    MPI_Request request;
    int error = PMPI_Issend(buffer, count, datatype, target, tag, communicator, &request);
    return MPI_SUCCESS == error ? rustcoll_wait_for(&request, MPI_STATUS_IGNORE) : error;
}

int MPI_Sendrecv(const void *sent, int send_count, MPI_Datatype send_datatype, int target, int send_tag, void *received,
                 int recv_count, MPI_Datatype recv_datatype, int source, int recv_tag, MPI_Comm communicator,
                 MPI_Status *status)
{
    if (0 == rustcoll_under_way) {
        return PMPI_Sendrecv(sent, send_count, send_datatype, target, send_tag, received, recv_count, recv_datatype, source,
                             recv_tag, communicator, status);
    }
    MPI_Request receiving, sending;
    int error = PMPI_Irecv(received, recv_count, recv_datatype, source, recv_tag, communicator, &receiving);
    if (MPI_SUCCESS == error) {
        error = PMPI_Isend(sent, send_count, send_datatype, target, send_tag, communicator, &sending);
    }
    if (MPI_SUCCESS == error) {
        error = rustcoll_wait_for(&sending, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS == error ? rustcoll_wait_for(&receiving, status) : error;
}

int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype datatype, int target, int send_tag, int source, int recv_tag,
                         MPI_Comm communicator, MPI_Status *status)
{
    int length = 0, position = 0;
    if (0 == rustcoll_under_way || MPI_SUCCESS != PMPI_Pack_size(count, datatype, communicator, &length)) {
        return PMPI_Sendrecv_replace(buffer, count, datatype, target, send_tag, source, recv_tag, communicator, status);
    }
    char *packed = malloc((size_t) length + 1);
    if (NULL == packed) {
        return rustcoll_raise(communicator, RUSTCOLL_ERR_NO_MEM);
    }
    int error = PMPI_Pack(buffer, count, datatype, packed, length, &position, communicator);
    if (MPI_SUCCESS == error) {
        error = MPI_Sendrecv(packed, position, MPI_PACKED, target, send_tag, buffer, count, datatype, source, recv_tag,
                             communicator, status);
    }
    free(packed);
    return error;
}
