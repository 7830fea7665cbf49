/* MPI's collectives: each describes its call in the neutral form, hands it to Rust, and leaves it to MPI if Rust says so. */

#include "interpose.h"

/* Whether MPI_IN_PLACE stands only where MPI allows it. A description has no buffer in place of which it may stand. */
static int is_rightly_in_place(const rustcoll_description *described)
{
    const rustcoll_call *call = &described->call;
    const int may_be = !described->group->is_inter && !rustcoll_is_among_neighbours(call->collective);
    return (may_be || !call->in_place) && MPI_IN_PLACE != call->send.buffer && MPI_IN_PLACE != call->recv.buffer;
}

/* Whether MPI knows the datatypes and the operator of a call, and defines the operator on the datatype. The buffers of a reduction have the same
 * datatype. */
static int is_known(const rustcoll_description *described)
{
    const rustcoll_call *call = &described->call;
    const rustcoll_datatype *reduced = NULL == call->send.datatype ? call->recv.datatype : call->send.datatype;
    return (NULL == call->send.datatype || NULL != call->send.datatype->handle)
           && (NULL == call->recv.datatype || NULL != call->recv.datatype->handle)
           && (NULL == call->operator_ || (NULL != call->operator_->handle && (NULL == reduced || rustcoll_fits(call->operator_, reduced))));
}

/* Whether Rust may get a call. MPI gets others, to report the error itself. */
static int is_legal(const rustcoll_description *described) { return is_known(described) && is_rightly_in_place(described); }

/* A blocking collective. If this library serves non-blocking collectives, it leaves a blocking call to MPI's non-blocking form, on all
 * ranks, and waits for that in steps. So the rank advances its operations meanwhile, for which another rank may wait. If MPI finds an
 * error, the program's error handler may free the communicator. */
#define INTERCEPT(number, Name, name, signature, describe)                                                   \
    int FORM(MPI_##Name)(signature##_PARAMETERS)                                                             \
    {                                                                                                        \
        rustcoll_state *state;                                                                               \
        int status = rustcoll_find_state(communicator, 1, &state);                                           \
        if (NULL == state) {                                                                                 \
            return MPI_SUCCESS == status ? FORM(PMPI_##Name)(signature##_ARGUMENTS) : status;                \
        }                                                                                                    \
        rustcoll_description described;                                                                      \
        described.group = &state->group;                                                                     \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        FORM(describe)(&described, signature##_ARGUMENTS);                                                   \
        const int can_serve = is_legal(&described);                                                          \
        status = can_serve ? rustcoll_run(state->rust, &described.call) : RUSTCOLL_BELOW;                    \
        if (RUSTCOLL_BELOW == status) {                                                                      \
            MPI_Request request;                                                                             \
            rustcoll_hold(state);                                                                            \
            status = rustcoll_serves_nonblocking() ? FORM(PMPI_I##name)(signature##_ARGUMENTS, &request)     \
                                                   : FORM(PMPI_##Name)(signature##_ARGUMENTS);               \
            if (MPI_SUCCESS == status && rustcoll_serves_nonblocking()) {                                    \
                status = rustcoll_wait_for(&request, MPI_STATUS_IGNORE);                                     \
            }                                                                                                \
            if (can_serve) {                                                                                 \
                rustcoll_ended_below(state->rust);                                                           \
            }                                                                                                \
            rustcoll_release(state);                                                                         \
            return status;                                                                                   \
        }                                                                                                    \
        return MPI_SUCCESS == status ? MPI_SUCCESS : rustcoll_raise(communicator, status);                   \
    }

/* A collective that has a request. Its two forms differ in what follows the arguments that SIGNATURE_PARAMETERS
 * declares and SIGNATURE_ARGUMENTS passes on. */
#define INTERCEPT_REQUEST(number, function, signature, describe, form, is_persistent)                        \
    int FORM(MPI_##function)(signature##_PARAMETERS, form##_PARAMETERS)                                      \
    {                                                                                                        \
        rustcoll_state *state;                                                                               \
        int status = rustcoll_find_state(communicator, 0, &state);                                           \
        if (NULL == state) {                                                                                 \
            return MPI_SUCCESS == status ? FORM(PMPI_##function)(signature##_ARGUMENTS, form##_ARGUMENTS)    \
                                         : status;                                                           \
        }                                                                                                    \
        rustcoll_description described;                                                                      \
        described.group = &state->group;                                                                     \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        FORM(describe)(&described, signature##_ARGUMENTS);                                                   \
        status = is_legal(&described) ? rustcoll_request_new(state, &described.call, is_persistent, request) \
                                      : RUSTCOLL_BELOW;                                                      \
        if (RUSTCOLL_BELOW == status) {                                                                      \
            return FORM(PMPI_##function)(signature##_ARGUMENTS, form##_ARGUMENTS);                           \
        }                                                                                                    \
        return MPI_SUCCESS == status ? MPI_SUCCESS : rustcoll_raise(communicator, status);                   \
    }

#define NONBLOCKING_PARAMETERS MPI_Request *request
#define NONBLOCKING_ARGUMENTS request
#define INTERCEPT_NONBLOCKING(number, Name, name, signature, describe)                                       \
    INTERCEPT_REQUEST(number, I##name, signature, describe, NONBLOCKING, 0)

#define PERSISTENT_PARAMETERS MPI_Info info, MPI_Request *request
#define PERSISTENT_ARGUMENTS info, request
#define INTERCEPT_PERSISTENT(number, Name, name, signature, describe)                                        \
    INTERCEPT_REQUEST(number, Name##_init, signature, describe, PERSISTENT, 1)

#define COUNT int
#define COUNTS const int *
#define DISPLACEMENTS const int *
#define BYTE_DISPLACEMENTS const MPI_Aint *
#define FORM(name) name
#include "describe.h"

RUSTCOLL_EACH(INTERCEPT)
RUSTCOLL_EACH(INTERCEPT_NONBLOCKING)
#if MPI_VERSION >= 4
RUSTCOLL_EACH(INTERCEPT_PERSISTENT)

/* The same collectives with counts of 64 bits. */
#undef COUNT
#undef COUNTS
#undef DISPLACEMENTS
#undef FORM
#define COUNT MPI_Count
#define COUNTS const MPI_Count *
#define DISPLACEMENTS const MPI_Aint *
#define FORM(name) name##_c
#include "describe.h"

RUSTCOLL_EACH_WITH_COUNTS(INTERCEPT)
RUSTCOLL_EACH_WITH_COUNTS(INTERCEPT_NONBLOCKING)
RUSTCOLL_EACH_WITH_COUNTS(INTERCEPT_PERSISTENT)
#endif
