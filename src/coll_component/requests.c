/* The requests of non-blocking and persistent collectives. */

#include "component.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "opal/runtime/opal_progress.h"

/* A request: Rust's operation, and objects that must live as long. The base class is what Open MPI's own layer expects
 * of every collective's request; it keeps datatypes and operators there until the operation is complete. */
typedef struct rustcoll_request {
    ompi_coll_base_nbc_request_t super;
    void *operation;
    opal_object_t **retained;
    size_t retained_count;
    /* Room for what most requests retain: communicators, an operator, and a datatype for each buffer. */
    opal_object_t *few[5];
    struct rustcoll_request *next;
} rustcoll_request;

/* Open MPI still uses a persistent request after it has called the function that frees it, perhaps while another thread asks for a new request.
 * So as many persistent ones as this, those that were freed last, are not used again yet. */
enum { FREED_LAST = 256 };

/* A request that is freed stays an object, keeps what Open MPI wrote there, and waits here for its next use. */
static struct {
    opal_mutex_t lock;
    rustcoll_request *first, *freed_last[FREED_LAST];
    unsigned freed;
} spare = {.lock = OPAL_MUTEX_STATIC_INIT};

static void start(ompi_request_t *request)
{
    request->req_status = ompi_status_empty;
    request->req_state = OMPI_REQUEST_ACTIVE;
    request->req_complete = REQUEST_PENDING;
    rustcoll_operation_start(((rustcoll_request *) request)->operation);
}

static int start_all(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        if (OMPI_REQUEST_INACTIVE != requests[i]->req_state) {
            return MPI_ERR_REQUEST;
        }
        start(requests[i]);
    }
    return MPI_SUCCESS;
}

static void put_spare(rustcoll_request *request)
{
    OPAL_THREAD_LOCK(&spare.lock);
    if (request->super.super.req_persistent) {
        rustcoll_request **place = &spare.freed_last[spare.freed++ % FREED_LAST], *oldest = *place;
        *place = request;
        request = oldest;
    }
    if (NULL != request) {
        request->next = spare.first;
        spare.first = request;
    }
    OPAL_THREAD_UNLOCK(&spare.lock);
}

/* Frees the operation first, because it refers to the retained objects. */
static void discard(rustcoll_request *request)
{
    if (NULL != request->operation) {
        rustcoll_operation_free(request->operation);
    }
    while (0 < request->retained_count) {
        opal_object_t *object = request->retained[--request->retained_count];
        OBJ_RELEASE(object);
    }
    if (request->few != request->retained) {
        free(request->retained);
    }
    OMPI_REQUEST_FINI(&request->super.super);
    put_spare(request);
}

static int free_request(ompi_request_t **handle)
{
    if (!REQUEST_COMPLETE(*handle)) {
        return MPI_ERR_REQUEST;
    }
    discard((rustcoll_request *) *handle);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int cancel_request(ompi_request_t *request, int flag) { return MPI_ERR_REQUEST; }

static OBJ_CLASS_INSTANCE(rustcoll_request, ompi_coll_base_nbc_request_t, NULL, NULL);

static rustcoll_request *take_spare(void)
{
    OPAL_THREAD_LOCK(&spare.lock);
    rustcoll_request *request = spare.first;
    if (NULL != request) {
        spare.first = request->next;
    }
    OPAL_THREAD_UNLOCK(&spare.lock);
    return request;
}

void rustcoll_free_requests(void)
{
    rustcoll_request *request;
    while (NULL != (request = take_spare())) {
        OBJ_RELEASE(request);
    }
    for (int i = 0; i < FREED_LAST; i++) {
        if (NULL != spare.freed_last[i]) {
            OBJ_RELEASE(spare.freed_last[i]);
        }
    }
}

/* Returns a request as if it were new, or NULL. An earlier use has left Open MPI's functions and objects in it. */
static rustcoll_request *request_of(struct ompi_communicator_t *communicator, int is_persistent)
{
    rustcoll_request *request = take_spare();
    if (NULL == request) {
        request = OBJ_NEW(rustcoll_request);
    }
    if (NULL == request) {
        return NULL;
    }
    ompi_request_t *base = &request->super.super;
    memset(base + 1, 0, sizeof request->super - sizeof *base);
    OMPI_REQUEST_INIT(base, is_persistent);
    base->req_type = OMPI_REQUEST_COLL;
    base->req_status = ompi_status_empty;
    base->req_start = start_all;
    base->req_free = free_request;
    base->req_cancel = cancel_request;
    base->req_mpi_object.comm = communicator;
    request->operation = NULL;
    request->retained = request->few;
    request->retained_count = 0;
    return request;
}

static void retain(rustcoll_request *request, const void *handle)
{
    opal_object_t *object = (opal_object_t *) handle;
    OBJ_RETAIN(object);
    request->retained[request->retained_count++] = object;
}

static void retain_side(rustcoll_request *request, const rustcoll_side *side, size_t blocks)
{
    if (NULL != side->datatype) {
        retain(request, side->datatype->handle);
    }
    const MPI_Datatype *datatypes = side->datatypes.values;
    for (size_t i = 0; NULL != datatypes && i < blocks; i++) {
        retain(request, datatypes[i]);
    }
}

/* Retains what must live until the request is freed. That includes a communicator that the user frees, with its module.
 * Open MPI's own layer retains datatypes and operators only in active requests; a new persistent one is not active. Of
 * an alltoallw on a communicator with a topology, 4.1 retains only as many datatypes as the rank has neighbours. */
static int retain_all(rustcoll_request *request, const rustcoll_call *call, struct ompi_communicator_t *communicator)
{
    rustcoll_topology topology;
    const int is_inter = OMPI_COMM_IS_INTER(communicator);
    size_t size = (size_t) (is_inter ? ompi_comm_remote_size(communicator) : ompi_comm_size(communicator));
    size_t sent = size, received = size;
    if (RUSTCOLL_NEIGHBOR_ALLTOALLW == call->collective) {
        rustcoll_shim_topology(communicator, &topology);
        sent = topology.outdegree;
        received = topology.indegree;
    }
    const int is_typed = NULL != call->recv.datatypes.values || NULL != call->send.datatypes.values;
    if (is_typed) {
        opal_object_t **room = calloc(3 + sent + received, sizeof *room);
        if (NULL == room) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        request->retained = room;
    }
    retain(request, communicator);
    if (is_inter) {
        /* Freeing the inter-communicator frees the local one at once. */
        retain(request, communicator->c_local_comm);
    }
    if (request->super.super.req_persistent && NULL != call->operator_) {
        retain(request, call->operator_->handle);
    }
    if (request->super.super.req_persistent || is_typed) {
        retain_side(request, &call->send, sent);
        retain_side(request, &call->recv, received);
    }
    return MPI_SUCCESS;
}

static atomic_bool is_in_progress;

static void begin_progress(void)
{
    if (!atomic_exchange(&is_in_progress, true)) {
        opal_progress_register(rustcoll_progress);
    }
}

void rustcoll_stop_progress(void)
{
    if (atomic_exchange(&is_in_progress, false)) {
        opal_progress_unregister(rustcoll_progress);
    }
}

/* The local group's communicator counts tags of its own, downwards from the same start: Open MPI runs non-blocking collectives on it when
 * it makes a communicator from the inter-communicator. So tags from the count of the inter-communicator are mirrored there, upwards from
 * the other end of the range; the two would meet after 10^9 collectives. Blocking collectives cannot meet others: on either communicator,
 * one ends before the next begins, and all ranks of the group run them in the same order. */
static int tag_on_local_communicator(int tag)
{
    return MCA_COLL_BASE_TAG_NONBLOCKING_END + (MCA_COLL_BASE_TAG_NONBLOCKING_BASE - tag);
}

/* Where the network sends only the last bits of a tag, as UCX sends 24, tags further down are those of the program and of blocking collectives.
 * So the tags that it tells apart are used again after some million collectives: those in the second quarter by non-blocking collectives, and
 * those in the second half by persistent ones, which may stay. The others are used once. Blocking collectives have those at the end. */
static int told_apart(rustcoll_module *module, int tag, int is_persistent)
{
    const int number = MCA_COLL_BASE_TAG_NONBLOCKING_BASE - tag, half = mca_pml.pml_max_tag / 2 - 64;
    if (number < half / 2) {
        return tag;
    }
    if (is_persistent) {
        return MCA_COLL_BASE_TAG_NONBLOCKING_BASE - half - module->late_persistent++ % half;
    }
    return MCA_COLL_BASE_TAG_NONBLOCKING_BASE - half / 2 - number % (half / 2);
}

int rustcoll_request_new(rustcoll_module *module, const rustcoll_call *call, int is_persistent,
                         struct ompi_communicator_t *communicator, ompi_request_t **handle)
{
    /* Before anything can fail, because all ranks must reserve equally many tags. */
    const int tag = told_apart(module, ompi_coll_base_nbc_reserve_tags(communicator, 1), is_persistent);
    const int local_tag = OMPI_COMM_IS_INTER(communicator) ? tag_on_local_communicator(tag) : tag;
    rustcoll_request *request = request_of(communicator, is_persistent);
    if (NULL == request) {
        rustcoll_missed(module->state, is_persistent);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    int status = retain_all(request, call, communicator);
    if (MPI_SUCCESS != status) {
        rustcoll_missed(module->state, is_persistent);
    } else {
        status = rustcoll_prepare(module->state, call, is_persistent, tag, local_tag, request,
                                  &request->operation);
    }
    if (MPI_SUCCESS != status) {
        discard(request);
        return rustcoll_error_of_mpi(status);
    }
    begin_progress();
    *handle = &request->super.super;
    if (!is_persistent) {
        start(*handle);
    }
    return MPI_SUCCESS;
}
