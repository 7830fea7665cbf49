/* Messages. One rank may describe data as elements that have gaps, and another as plain bytes; MPI matches the two only if the bytes are
 * called packed. So data with gaps are received packed, and unpacked after their arrival; otherwise some MPIs find such data too long. */

#include "interpose.h"

#include <limits.h>
#include <stdlib.h>

/* A message in flight. */
typedef struct transfer {
    MPI_Request request;
    void *packed; /* where it arrives, if it is to be unpacked */
    void *target;
    rustcoll_datatype type; /* of the target */
} transfer;

/* Returns a datatype of `count` elements, which an int cannot count. */
static MPI_Datatype all_in_one(size_t count, MPI_Datatype datatype)
{
    const size_t rest = count % INT_MAX;
    MPI_Datatype chunk, chunks, end, whole;
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(datatype, &lower, &extent);
    PMPI_Type_contiguous(INT_MAX, datatype, &chunk);
    PMPI_Type_contiguous((int) (count / INT_MAX), chunk, &chunks);
    PMPI_Type_contiguous((int) rest, datatype, &end);
    int lengths[2] = {1, 1};
    MPI_Aint displacements[2] = {0, (MPI_Aint) (count - rest) * extent};
    MPI_Datatype parts[2] = {chunks, end};
    PMPI_Type_create_struct(2, lengths, displacements, parts, &whole);
    PMPI_Type_commit(&whole);
    PMPI_Type_free(&chunk);
    PMPI_Type_free(&chunks);
    PMPI_Type_free(&end);
    return whole;
}

static MPI_Datatype as_it_travels(const void *datatype)
{
    const MPI_Datatype type = RUSTCOLL_DATATYPE(datatype);
    return MPI_BYTE == type ? MPI_PACKED : type;
}

/* Posts a message; as one element that has all others, if an int cannot count them. */
static int post(int is_sent, void *buffer, size_t count, MPI_Datatype type, int peer, int tag, MPI_Comm own,
                MPI_Request *request)
{
    const int is_long = count > INT_MAX;
    if (is_long) {
        type = all_in_one(count, type);
        count = 1;
    }
    int error = is_sent ? PMPI_Isend(buffer, (int) count, type, peer, tag, own, request)
                        : PMPI_Irecv(buffer, (int) count, type, peer, tag, own, request);
    if (is_long) {
        PMPI_Type_free(&type);
    }
    return rustcoll_neutral(error);
}

/* Keeps a message until it is waited for. Does not keep one that could not be posted. */
static int keep(transfer posted, int error, void **handle)
{
    transfer *kept = MPI_SUCCESS == error ? malloc(sizeof *kept) : NULL;
    if (MPI_SUCCESS == error && NULL == kept) {
        rustcoll_end_job("rustcoll: no memory for a message that is under way");
    }
    if (NULL == kept) {
        free(posted.packed);
    } else {
        *kept = posted;
    }
    *handle = kept;
    return error;
}

int rustcoll_shim_send(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                       const void *communicator, void **handle)
{
    transfer sent = {.request = MPI_REQUEST_NULL};
    int error = post(1, (void *) buffer, count, as_it_travels(datatype), peer, tag, *(const MPI_Comm *) communicator,
                     &sent.request);
    return keep(sent, error, handle);
}

static int receive(void *buffer, size_t count, const rustcoll_datatype *described, int peer, int tag,
                   const void *communicator, void **handle)
{
    transfer received = {.request = MPI_REQUEST_NULL, .target = buffer, .type = *described};
    MPI_Datatype type = as_it_travels(described->handle);
    if (!described->contiguous) {
        count *= described->size;
        type = MPI_PACKED;
        buffer = received.packed = malloc(count + 1);
        if (NULL == buffer) {
            return RUSTCOLL_ERR_NO_MEM;
        }
    }
    int error = post(0, buffer, count, type, peer, tag, *(const MPI_Comm *) communicator, &received.request);
    return keep(received, error, handle);
}

int rustcoll_shim_receive(void *buffer, size_t count, const void *datatype, int peer, int tag,
                          const void *communicator, void **handle)
{
    rustcoll_datatype described;
    rustcoll_shim_describe(datatype, &described);
    return receive(buffer, count, &described, peer, tag, communicator, handle);
}

int rustcoll_shim_send_and_wait(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                                const void *communicator)
{
    if (count <= INT_MAX && !rustcoll_waits_in_steps()) {
        return rustcoll_neutral(PMPI_Send(buffer, (int) count, as_it_travels(datatype), peer, tag,
                                          *(const MPI_Comm *) communicator));
    }
    void *handle;
    int error = rustcoll_shim_send(buffer, count, datatype, peer, tag, communicator, &handle);
    return MPI_SUCCESS == error ? rustcoll_shim_wait(&handle) : error;
}

int rustcoll_shim_receive_and_wait(void *buffer, size_t count, const void *datatype, int peer, int tag,
                                   const void *communicator)
{
    rustcoll_datatype described;
    rustcoll_shim_describe(datatype, &described);
    if (count <= INT_MAX && described.contiguous && !rustcoll_waits_in_steps()) {
        return rustcoll_neutral(PMPI_Recv(buffer, (int) count, as_it_travels(datatype), peer, tag,
                                          *(const MPI_Comm *) communicator, MPI_STATUS_IGNORE));
    }
    void *handle;
    int error = receive(buffer, count, &described, peer, tag, communicator, &handle);
    return MPI_SUCCESS == error ? rustcoll_shim_wait(&handle) : error;
}

/* Ends a message after success or an error. Unpacks its data if they came packed, and frees it. */
static int end(void **handle, int error, MPI_Status *status)
{
    transfer *ended = *handle;
    MPI_Count bytes = 0;
    *handle = NULL;
    error = rustcoll_neutral(error);
    if (MPI_SUCCESS == error && NULL != ended->packed) {
        PMPI_Get_elements_x(status, MPI_PACKED, &bytes);
        error = rustcoll_unpack(ended->packed, (size_t) bytes, ended->target, &ended->type, 0);
    }
    free(ended->packed);
    free(ended);
    return error;
}

int rustcoll_shim_wait(void **handle)
{
    MPI_Status status;
    int error = rustcoll_wait_for(&((transfer *) *handle)->request, &status);
    return end(handle, error, &status);
}

int rustcoll_shim_test(void **handle, int *error)
{
    MPI_Status status;
    int is_complete = 0;
    *error = PMPI_Test(&((transfer *) *handle)->request, &is_complete, &status);
    if (MPI_SUCCESS == *error && !is_complete) {
        return 0;
    }
    *error = end(handle, *error, &status);
    return 1;
}

/* Does not free the memory of the message, because data may still arrive there. */
int rustcoll_shim_abandon(void **handle)
{
    transfer *given_up = *handle;
    *handle = NULL;
    PMPI_Cancel(&given_up->request);
    PMPI_Request_free(&given_up->request);
    return RUSTCOLL_LOST;
}

/* MPI does not tell this library about failed processes. */
int rustcoll_shim_failure(const void *communicator)
{
    (void) communicator;
    return RUSTCOLL_SUCCESS;
}
