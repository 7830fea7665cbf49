/* Blocking messages, for counts of one width: COUNT is their type, FORM(name) the function of that width. Where
 * operations of this library may be in flight, these calls wait in small steps, because other processes may wait for the
 * operations. No include guard: included once for each width. */

int FORM(MPI_Mrecv)(void *buffer, COUNT count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    if (!rustcoll_waits_in_steps()) {
        return FORM(PMPI_Mrecv)(buffer, count, datatype, message, status);
    }
    MPI_Request request;
    int error = FORM(PMPI_Imrecv)(buffer, count, datatype, message, &request);
    return MPI_SUCCESS == error ? rustcoll_wait_for(&request, status) : error;
}

int FORM(MPI_Recv)(void *buffer, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm communicator,
                   MPI_Status *status)
{
    if (!rustcoll_waits_in_steps()) {
        return FORM(PMPI_Recv)(buffer, count, datatype, source, tag, communicator, status);
    }
    MPI_Request request;
    int error = FORM(PMPI_Irecv)(buffer, count, datatype, source, tag, communicator, &request);
    return MPI_SUCCESS == error ? rustcoll_wait_for(&request, status) : error;
}

#define SEND(Name, Iname)                                                                                    \
    int FORM(MPI_##Name)(const void *buffer, COUNT count, MPI_Datatype datatype, int target, int tag,        \
                         MPI_Comm communicator)                                                              \
    {                                                                                                        \
        if (!rustcoll_waits_in_steps()) {                                                                    \
            return FORM(PMPI_##Name)(buffer, count, datatype, target, tag, communicator);                    \
        }                                                                                                    \
        MPI_Request request;                                                                                 \
        int error = FORM(PMPI_##Iname)(buffer, count, datatype, target, tag, communicator, &request);        \
        return MPI_SUCCESS == error ? rustcoll_wait_for(&request, MPI_STATUS_IGNORE) : error;                \
    }
SEND(Rsend, Irsend)
SEND(Send, Isend)
SEND(Ssend, Issend)
#undef SEND

int FORM(MPI_Sendrecv)(const void *sent, COUNT send_count, MPI_Datatype send_datatype, int target, int send_tag,
                       void *received, COUNT recv_count, MPI_Datatype recv_datatype, int source, int recv_tag,
                       MPI_Comm communicator, MPI_Status *status)
{
    if (!rustcoll_waits_in_steps()) {
        return FORM(PMPI_Sendrecv)(sent, send_count, send_datatype, target, send_tag, received, recv_count, recv_datatype,
                                   source, recv_tag, communicator, status);
    }
    MPI_Request receiving, sending;
    int error = FORM(PMPI_Irecv)(received, recv_count, recv_datatype, source, recv_tag, communicator, &receiving);
    if (MPI_SUCCESS != error) {
        return error;
    }
    error = FORM(PMPI_Isend)(sent, send_count, send_datatype, target, send_tag, communicator, &sending);
    if (MPI_SUCCESS == error) {
        error = rustcoll_wait_for(&sending, MPI_STATUS_IGNORE);
    }
    if (MPI_SUCCESS != error) {
        /* No later message may come into the program's buffer. */
        PMPI_Cancel(&receiving);
        rustcoll_wait_for(&receiving, MPI_STATUS_IGNORE);
        return error;
    }
    return rustcoll_wait_for(&receiving, status);
}

int FORM(MPI_Sendrecv_replace)(void *buffer, COUNT count, MPI_Datatype datatype, int target, int send_tag, int source,
                               int recv_tag, MPI_Comm communicator, MPI_Status *status)
{
    /* The size does not matter, only whether MPI accepts the arguments. */
    COUNT length = 0;
    if (!rustcoll_waits_in_steps() || MPI_SUCCESS != FORM(PMPI_Pack_size)(count, datatype, communicator, &length)) {
        return FORM(PMPI_Sendrecv_replace)(buffer, count, datatype, target, send_tag, source, recv_tag, communicator,
                                           status);
    }
    void *memory, *copy = NULL;
    int error = rustcoll_copy_elements(buffer, (size_t) count, datatype, &memory, &copy);
    if (MPI_SUCCESS != error) {
        free(memory);
        return rustcoll_raise(communicator, error);
    }
    error = FORM(MPI_Sendrecv)(copy, count, datatype, target, send_tag, buffer, count, datatype, source, recv_tag, communicator,
                               status);
    free(memory);
    return error;
}
