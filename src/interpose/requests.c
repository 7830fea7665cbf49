/* The requests of non-blocking and persistent collectives. A program gets a real request of MPI's: the receive of a message that this
 * process sends to itself when the operation is complete. So all of MPI's functions on requests work as usual. */

#include "interpose.h"

#include <pthread.h>
#include <stdlib.h>

/* The user's objects that a request uses. The user may free them meanwhile, because MPI does not know of the use. */
typedef struct used {
    MPI_Datatype *datatypes;
    size_t datatypes_count;
    MPI_Op operator_;
} used;

typedef struct request {
    void *operation;
    rustcoll_state *state;
    MPI_Request stand_in;
    int tag;
    int is_persistent;
    /* Whether it is between its start and its end, and whether the program freed it, which is persistent, meanwhile. */
    int is_active, is_freed;
    used used;
    struct request *next, *next_waiting;
} request;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* All requests; and those that wait for the duplicate of their communicator. */
static request *requests, *waiting;
static unsigned made;

/* Objects that the user has freed and requests still use. */
static struct {
    MPI_Datatype *datatypes;
    MPI_Op *operators;
    size_t datatypes_count, operators_count;
} unfreed;

atomic_int rustcoll_under_way;

static int highest_tag(void)
{
    static atomic_int known;
    if (0 == known) {
        int *limit, is_there;
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &is_there);
        known = is_there ? *limit : 32767;
    }
    return known;
}

/* Half of the tags are for persistent operations, which may stay forever. Half are for the others, of which there are
 * never so many at a time that a tag is used again too early. */
static unsigned tags(void) { return (unsigned) (highest_tag() - RUSTCOLL_FIRST_REQUEST_TAG) / 2; }

static int tag_of(unsigned number, int is_persistent)
{
    return RUSTCOLL_FIRST_REQUEST_TAG + (int) (2 * (number % tags())) + is_persistent;
}

static int uses_datatype(const used *used, MPI_Datatype datatype)
{
    for (size_t i = 0; i < used->datatypes_count; i++) {
        if (datatype == used->datatypes[i]) {
            return 1;
        }
    }
    return 0;
}

static int is_datatype_used(MPI_Datatype datatype)
{
    for (const request *one = requests; NULL != one; one = one->next) {
        if (uses_datatype(&one->used, datatype)) {
            return 1;
        }
    }
    return 0;
}

static int is_operator_used(MPI_Op operator_)
{
    for (const request *one = requests; NULL != one; one = one->next) {
        if (operator_ == one->used.operator_) {
            return 1;
        }
    }
    return 0;
}

/* Take a handle that the user has freed, and that no request uses any more, out of the list; 0 if there is none. */

static int take_unused_datatype(MPI_Datatype *datatype)
{
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < unfreed.datatypes_count && is_datatype_used(unfreed.datatypes[i])) {
        i++;
    }
    const int is_found = i < unfreed.datatypes_count;
    if (is_found) {
        *datatype = unfreed.datatypes[i];
        unfreed.datatypes[i] = unfreed.datatypes[--unfreed.datatypes_count];
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

static int take_unused_operator(MPI_Op *operator_)
{
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < unfreed.operators_count && is_operator_used(unfreed.operators[i])) {
        i++;
    }
    const int is_found = i < unfreed.operators_count;
    if (is_found) {
        *operator_ = unfreed.operators[i];
        unfreed.operators[i] = unfreed.operators[--unfreed.operators_count];
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

/* Frees outside the lock: MPI may call functions of the user's, for attributes. */
static void free_unused(void)
{
    MPI_Datatype datatype;
    MPI_Op operator_;
    while (take_unused_datatype(&datatype)) {
        PMPI_Type_free(&datatype);
    }
    while (take_unused_operator(&operator_)) {
        PMPI_Op_free(&operator_);
    }
}

/* Counts the datatypes of the two sides of a call in which each rank or neighbour has its own. */
static void count_datatypes(const rustcoll_state *state, int collective, size_t counts[2])
{
    rustcoll_topology topology;
    int partners = state->group.size;
    if (RUSTCOLL_NEIGHBOR_ALLTOALLW == collective) {
        rustcoll_shim_topology(state, &topology);
        counts[0] = topology.outdegree;
        counts[1] = topology.indegree;
        return;
    }
    if (state->group.is_inter) {
        PMPI_Comm_remote_size(state->communicator, &partners);
    }
    counts[0] = counts[1] = (size_t) partners;
}

static void note_side(used *used, const rustcoll_side *side, size_t blocks)
{
    if (NULL != side->datatype) {
        used->datatypes[used->datatypes_count++] = RUSTCOLL_DATATYPE(side->datatype->handle);
    }
    const MPI_Datatype *datatypes = side->datatypes.values;
    for (size_t i = 0; NULL != datatypes && i < blocks; i++) {
        used->datatypes[used->datatypes_count++] = datatypes[i];
    }
}

/* Returns 0 if there is no memory. */
static int note_used(request *request, const rustcoll_call *call)
{
    used *used = &request->used;
    size_t counts[2] = {0, 0};
    if (NULL != call->send.datatypes.values || NULL != call->recv.datatypes.values) {
        count_datatypes(request->state, call->collective, counts);
    }
    used->operator_ = NULL == call->operator_ ? MPI_OP_NULL : RUSTCOLL_OPERATOR(call->operator_->handle);
    used->datatypes = calloc(2 + counts[0] + counts[1], sizeof *used->datatypes);
    if (NULL != used->datatypes) {
        note_side(used, &call->send, counts[0]);
        note_side(used, &call->recv, counts[1]);
    }
    return NULL != used->datatypes;
}

static int is_tag_used(int tag)
{
    for (const request *one = requests; NULL != one; one = one->next) {
        if (tag == one->tag) {
            return 1;
        }
    }
    return 0;
}

static void enlist(request *request)
{
    pthread_mutex_lock(&lock);
    do {
        request->tag = tag_of(made++, request->is_persistent);
    } while (made > tags() && is_tag_used(request->tag));
    request->next = requests;
    requests = request;
    pthread_mutex_unlock(&lock);
}

static void discard(request *ended)
{
    if (NULL != ended->operation) {
        rustcoll_operation_free(ended->operation);
    }
    pthread_mutex_lock(&lock);
    request **place = &requests;
    while (ended != *place) {
        place = &(*place)->next;
    }
    *place = ended->next;
    pthread_mutex_unlock(&lock);
    free_unused();
    rustcoll_release(ended->state);
    free(ended->used.datatypes);
    free(ended);
}

/* Starts a request, or lets it wait for the duplicate of its communicator. */
static void start_or_wait(request *request)
{
    if (rustcoll_can_send(request->state)) {
        rustcoll_operation_start(request->operation);
        return;
    }
    pthread_mutex_lock(&lock);
    request->next_waiting = waiting;
    waiting = request;
    pthread_mutex_unlock(&lock);
}

static void start(request *request)
{
    pthread_mutex_lock(&lock);
    request->is_active = 1;
    pthread_mutex_unlock(&lock);
    rustcoll_under_way++;
    start_or_wait(request);
}

/* Starts the waiting requests whose duplicate is complete. Outside the lock: while MPI tests that, it may call functions of the user's, for
 * attributes. */
static void start_waiting(void)
{
    pthread_mutex_lock(&lock);
    request *one = waiting;
    waiting = NULL;
    pthread_mutex_unlock(&lock);
    while (NULL != one) {
        request *next = one->next_waiting;
        start_or_wait(one);
        one = next;
    }
}

void rustcoll_go_on(void)
{
    if (0 == rustcoll_under_way) {
        return;
    }
    start_waiting();
    rustcoll_progress();
}

/* What a process sends to itself has no content. A message that is longer than expected reports an error; Intel MPI
 * does not see that if the receive expects no byte at all. */
enum { EXPECTED = 1, TOO_LONG = 2 };
static char received[EXPECTED], sent[TOO_LONG];

/* Raises an error of an operation, after the program has freed its communicator perhaps. Then MPI calls the communicator's handler on one of
 * this process alone. */
static void raise_error(const rustcoll_state *state, int error)
{
    if (MPI_ERRHANDLER_NULL == state->handler) {
        rustcoll_raise(state->communicator, error);
        return;
    }
    PMPI_Comm_set_errhandler(rustcoll_itself(), state->handler);
    rustcoll_raise(rustcoll_itself(), error);
    PMPI_Comm_set_errhandler(rustcoll_itself(), MPI_ERRORS_RETURN);
}

void rustcoll_shim_complete(void *handle, int error)
{
    request *ended = handle;
    const int tag = ended->tag;
    MPI_Request left = MPI_REQUEST_NULL;
    if (MPI_SUCCESS != error) {
        raise_error(ended->state, error);
    }
    rustcoll_under_way--;
    pthread_mutex_lock(&lock);
    ended->is_active = 0;
    const int is_over = !ended->is_persistent || ended->is_freed;
    if (ended->is_freed) {
        left = ended->stand_in;
    }
    pthread_mutex_unlock(&lock);
    if (is_over) {
        discard(ended);
    }
    PMPI_Send(sent, MPI_SUCCESS == error ? 0 : TOO_LONG, MPI_BYTE, 0, tag, rustcoll_itself());
    if (MPI_REQUEST_NULL != left) {
        PMPI_Wait(&left, MPI_STATUS_IGNORE);
        PMPI_Request_free(&left);
    }
}

static int receive_from_itself(request *request)
{
    return request->is_persistent
               ? PMPI_Recv_init(received, EXPECTED, MPI_BYTE, 0, request->tag, rustcoll_itself(), &request->stand_in)
               : PMPI_Irecv(received, EXPECTED, MPI_BYTE, 0, request->tag, rustcoll_itself(), &request->stand_in);
}

int rustcoll_request_new(rustcoll_state *state, const rustcoll_call *call, int is_persistent, MPI_Request *handle)
{
    /* Before anything can fail, because all ranks must count equally many. */
    const unsigned number = state->operations[is_persistent]++;
    if (is_persistent && number >= tags()) {
        /* At some ranks, an earlier operation may still have the tag. */
        return RUSTCOLL_BELOW;
    }
    const int tag = tag_of(number, is_persistent);
    request *added = calloc(1, sizeof *added);
    if (NULL == added) {
        rustcoll_missed(state->rust, is_persistent);
        return RUSTCOLL_ERR_NO_MEM;
    }
    rustcoll_hold(state);
    *added = (request) {.state = state, .stand_in = MPI_REQUEST_NULL, .is_persistent = is_persistent};
    enlist(added);
    int status = RUSTCOLL_ERR_NO_MEM;
    if (is_persistent && rustcoll_is_among_neighbours(call->collective)) {
        /* In the initialization, ranks may send each other their neighbours. */
        rustcoll_wait_until_it_can_send(state);
    }
    if (note_used(added, call)) {
        status = rustcoll_prepare(state->rust, call, is_persistent, tag, tag, added, &added->operation);
    } else {
        rustcoll_missed(state->rust, is_persistent);
    }
    if (MPI_SUCCESS == status) {
        status = receive_from_itself(added);
    }
    if (MPI_SUCCESS != status) {
        discard(added);
        return status;
    }
    *handle = added->stand_in;
    if (!is_persistent) {
        start(added);
    }
    return MPI_SUCCESS;
}

/* Returns the persistent request that a program knows by a handle, or NULL. The lock is held. */
static request *known_by(MPI_Request handle)
{
    request *found = MPI_REQUEST_NULL == handle ? NULL : requests;
    while (NULL != found && !(found->is_persistent && !found->is_freed && handle == found->stand_in)) {
        found = found->next;
    }
    return found;
}

static request *find(MPI_Request handle)
{
    pthread_mutex_lock(&lock);
    request *found = known_by(handle);
    pthread_mutex_unlock(&lock);
    return found;
}

/* Finds a request for the last time: when MPI has freed the handle, another thread may get it for another request. An active one keeps its handle and
 * may end at any time, so it is not returned. */
static request *forget(MPI_Request handle, int *is_active)
{
    pthread_mutex_lock(&lock);
    request *found = known_by(handle);
    *is_active = NULL != found && found->is_active;
    if (NULL != found) {
        found->is_freed = 1;
        if (!*is_active) {
            found->stand_in = MPI_REQUEST_NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return *is_active ? NULL : found;
}

int MPI_Start(MPI_Request *handle)
{
    int error = PMPI_Start(handle);
    request *own = find(*handle);
    if (MPI_SUCCESS == error && NULL != own) {
        start(own);
    }
    return error;
}

int MPI_Startall(int count, MPI_Request *handles)
{
    int error = PMPI_Startall(count, handles);
    for (int i = 0; MPI_SUCCESS == error && i < count; i++) {
        request *own = find(handles[i]);
        if (NULL != own) {
            start(own);
        }
    }
    return error;
}

int MPI_Request_free(MPI_Request *handle)
{
    int is_active;
    request *own = forget(*handle, &is_active);
    if (is_active) {
        *handle = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    int error = PMPI_Request_free(handle);
    if (NULL != own) {
        discard(own);
    }
    return error;
}

/* Leave a handle to be freed after the last request that uses it; 0 if none does, or there is no memory to note it. */

static int leave_datatype(MPI_Datatype datatype)
{
    pthread_mutex_lock(&lock);
    MPI_Datatype *more = is_datatype_used(datatype)
                             ? realloc(unfreed.datatypes, (unfreed.datatypes_count + 1) * sizeof *more)
                             : NULL;
    if (NULL != more) {
        unfreed.datatypes = more;
        unfreed.datatypes[unfreed.datatypes_count++] = datatype;
    }
    pthread_mutex_unlock(&lock);
    return NULL != more;
}

static int leave_operator(MPI_Op operator_)
{
    pthread_mutex_lock(&lock);
    MPI_Op *more = is_operator_used(operator_)
                       ? realloc(unfreed.operators, (unfreed.operators_count + 1) * sizeof *more)
                       : NULL;
    if (NULL != more) {
        unfreed.operators = more;
        unfreed.operators[unfreed.operators_count++] = operator_;
    }
    pthread_mutex_unlock(&lock);
    return NULL != more;
}

int MPI_Type_free(MPI_Datatype *datatype)
{
    if (!leave_datatype(*datatype)) {
        return PMPI_Type_free(datatype);
    }
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op *operator_)
{
    if (!leave_operator(*operator_)) {
        return PMPI_Op_free(operator_);
    }
    *operator_ = MPI_OP_NULL;
    return MPI_SUCCESS;
}
