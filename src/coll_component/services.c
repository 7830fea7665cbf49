/* What Rust needs of Open MPI, where it is a macro, an inline function or a data object. */

#include "component.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/mca/topo/topo.h"
#include "ompi/op/op.h"
#include "opal/util/proc.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/info.h"
#include "opal/util/output.h"

static int output_stream = -1;

int rustcoll_shim_send(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                       const void *communicator, void **request)
{
    int status = MCA_PML_CALL(isend(buffer, count, (ompi_datatype_t *) datatype, peer, tag,
                                    MCA_PML_BASE_SEND_STANDARD, (ompi_communicator_t *) communicator,
                                    (ompi_request_t **) request));
    if (&ompi_request_empty == *request) {
        *request = NULL; /* buffered: there is nothing to wait for or to free */
    }
    return status;
}

int rustcoll_shim_receive(void *buffer, size_t count, const void *datatype, int peer, int tag,
                          const void *communicator, void **request)
{
    return MCA_PML_CALL(irecv(buffer, count, (ompi_datatype_t *) datatype, peer, tag,
                              (ompi_communicator_t *) communicator, (ompi_request_t **) request));
}

int rustcoll_shim_send_and_wait(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                                const void *communicator)
{
    int error = MCA_PML_CALL(send(buffer, count, (ompi_datatype_t *) datatype, peer, tag, MCA_PML_BASE_SEND_STANDARD,
                                  (ompi_communicator_t *) communicator));
    return rustcoll_neutral(error);
}

int rustcoll_shim_receive_and_wait(void *buffer, size_t count, const void *datatype, int peer, int tag,
                                   const void *communicator)
{
    int error = MCA_PML_CALL(recv(buffer, count, (ompi_datatype_t *) datatype, peer, tag,
                                  (ompi_communicator_t *) communicator, MPI_STATUS_IGNORE));
    return rustcoll_neutral(error);
}

int rustcoll_shim_wait(void **handle)
{
    ompi_request_t *request = *handle;
    ompi_request_wait_completion(request);
    int error = request->req_status.MPI_ERROR;
    ompi_request_free((ompi_request_t **) handle);
    *handle = NULL;
    return rustcoll_neutral(error);
}

int rustcoll_shim_test(void **handle, int *error)
{
    ompi_request_t *request = *handle;
    if (!REQUEST_COMPLETE(request) && !rustcoll_is_failed(request)) {
        return 0;
    }
    *error = rustcoll_shim_wait(handle); /* does not wait any more */
    return 1;
}

int rustcoll_shim_failure(const void *communicator) { return rustcoll_failure(communicator); }

/* Open MPI ends all requests of collectives after a process has failed. The caller must wait until it ends those in flight. */
int rustcoll_shim_abandon(void **handle)
{
    ompi_request_t *request = *handle;
    int is_ended = REQUEST_COMPLETE(request) || rustcoll_is_failed(request);
    if (!is_ended && MPI_SUCCESS != rustcoll_failure(request->req_mpi_object.comm)) {
        return RUSTCOLL_ENDING;
    }
    if (!is_ended) {
        ompi_request_cancel(request);
        is_ended = REQUEST_COMPLETE(request);
    }
    ompi_request_free((ompi_request_t **) handle);
    *handle = NULL;
    return is_ended ? RUSTCOLL_FREED : RUSTCOLL_LOST;
}

void rustcoll_shim_complete(void *handle, int error)
{
    ompi_request_t *request = handle;
    request->req_status.MPI_ERROR = rustcoll_error_of_mpi(error);
    ompi_request_complete(request, true);
}

void rustcoll_shim_topology(const void *handle, rustcoll_topology *topology)
{
    ompi_communicator_t *communicator = (ompi_communicator_t *) handle;
    const mca_topo_base_comm_cgd_union_t *kinds = &communicator->c_topo->mtc;
    *topology = (rustcoll_topology) {0};
    if (OMPI_COMM_IS_CART(communicator)) {
        topology->is_grid = 1;
        topology->dimensions = (size_t) kinds->cart->ndims;
        topology->lengths = kinds->cart->dims;
        topology->periods = kinds->cart->periods;
        topology->indegree = topology->outdegree = 2 * topology->dimensions;
    } else if (OMPI_COMM_IS_GRAPH(communicator)) {
        int rank = ompi_comm_rank(communicator), first = 0 == rank ? 0 : kinds->graph->index[rank - 1];
        topology->indegree = topology->outdegree = (size_t) (kinds->graph->index[rank] - first);
        topology->sources = topology->destinations = kinds->graph->edges + first;
    } else if (OMPI_COMM_IS_DIST_GRAPH(communicator)) {
        topology->indegree = (size_t) kinds->dist_graph->indegree;
        topology->outdegree = (size_t) kinds->dist_graph->outdegree;
        topology->sources = kinds->dist_graph->in;
        topology->destinations = kinds->dist_graph->out;
    }
}

void rustcoll_shim_describe(const void *datatype, rustcoll_datatype *description)
{
    const opal_datatype_t *layout = &((const ompi_datatype_t *) datatype)->super;
    *description = (rustcoll_datatype) {
        .handle = datatype,
        .size = layout->size,
        .extent = 0 == layout->size ? 0 : layout->ub - layout->lb,
        .true_lb = layout->true_lb,
        .true_extent = (size_t) (layout->true_ub - layout->true_lb),
        .contiguous = opal_datatype_is_contiguous_memory_layout(layout, 2),
    };
}

int rustcoll_shim_info(const void *handle, int number, const char **key, const char **value)
{
    opal_info_t *info = ((const ompi_communicator_t *) handle)->super.s_info;
    opal_info_entry_t *entry;
    if (NULL != info) {
        OPAL_LIST_FOREACH(entry, &info->super, opal_info_entry_t) {
            if (0 == number--) {
                *key = rustcoll_text(entry->ie_key);
                *value = rustcoll_text(entry->ie_value);
                return 1;
            }
        }
    }
    return 0;
}

int rustcoll_shim_has_devices(void) { return rustcoll_has_devices(); }

int rustcoll_shim_is_on_device(const void *address) { return rustcoll_is_on_device(address); }

int rustcoll_shim_register_host(void *address, size_t bytes) { return rustcoll_register_host(address, bytes); }

int rustcoll_shim_unregister_host(void *address) { return rustcoll_unregister_host(address); }

static const opal_datatype_t *layout(const void *datatype)
{
    return NULL == datatype ? &ompi_mpi_byte.dt.super : &((const ompi_datatype_t *) datatype)->super;
}

/* Open MPI packs only whole basic elements. If it unpacks a part of one that has more than 16 bytes (a complex number of long double), 4.1 and
 * 5.0 write beyond an array on the stack. So it packs and unpacks only whole ones here. A part goes through a copy of its basic element. */

/* No basic element has more bytes. */
#define LONGEST_BASIC 64

static void prepare_to_read(opal_convertor_t *reading, const void *source, const void *datatype, size_t elements)
{
    OBJ_CONSTRUCT(reading, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, layout(datatype), elements, source, 0, reading);
}

/* Goes to the beginning of the basic element that has a byte, and returns this place. Data without gaps are bytes. */
static size_t seek(opal_convertor_t *reading, size_t byte)
{
    opal_convertor_set_position(reading, &byte);
    return byte;
}

/* Returns where the basic element ends that has a byte. */
static size_t end_of_basic(opal_convertor_t *reading, size_t byte)
{
    size_t end = byte + 1;
    while (seek(reading, end) <= byte) {
        end++;
    }
    return end;
}

static int pack_whole(opal_convertor_t *reading, size_t first, void *packed, size_t *bytes)
{
    seek(reading, first);
    struct iovec plain = {.iov_base = packed, .iov_len = *bytes};
    uint32_t vectors = 1;
    return opal_convertor_pack(reading, &plain, &vectors, bytes);
}

/* Packs as many whole basic elements as there is room for, or a part of one. */
static int pack_some(opal_convertor_t *reading, size_t first, void *packed, size_t *bytes)
{
    const size_t wanted = *bytes, start = seek(reading, first), begun = first - start;
    if (0 == begun) {
        int status = pack_whole(reading, start, packed, bytes);
        if (0 > status || 0 < *bytes) {
            return status;
        }
    }
    char whole[LONGEST_BASIC];
    size_t length = sizeof whole;
    int status = pack_whole(reading, start, whole, &length);
    if (0 > status || length <= begun) {
        return OPAL_ERROR;
    }
    *bytes = length - begun < wanted ? length - begun : wanted;
    memcpy(packed, whole + begun, *bytes);
    return status;
}

/* Memory to unpack into. */
typedef struct target {
    opal_convertor_t reading, writing;
} target;

static void prepare_to_write(target *target, void *memory, const void *datatype, size_t elements)
{
    prepare_to_read(&target->reading, memory, datatype, elements);
    OBJ_CONSTRUCT(&target->writing, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, layout(datatype), elements, memory, 0, &target->writing);
}

static void leave(target *target)
{
    OBJ_DESTRUCT(&target->writing);
    OBJ_DESTRUCT(&target->reading);
}

static int unpack_whole(target *target, size_t first, const void *packed, size_t bytes)
{
    opal_convertor_set_position(&target->writing, &first);
    struct iovec plain = {.iov_base = (void *) packed, .iov_len = bytes};
    uint32_t vectors = 1;
    return opal_convertor_unpack(&target->writing, &plain, &vectors, &bytes);
}

/* Unpacks bytes into the basic element that has the first of them, up to its end. It keeps its other bytes. */
static int unpack_part(target *target, size_t first, const void *packed, size_t *bytes)
{
    char whole[LONGEST_BASIC];
    const size_t end = end_of_basic(&target->reading, first), start = seek(&target->reading, end - 1);
    size_t length = end - start;
    if (length > sizeof whole || 0 > pack_whole(&target->reading, start, whole, &length)) {
        return OPAL_ERROR;
    }
    *bytes = *bytes < end - first ? *bytes : end - first;
    memcpy(whole + (first - start), packed, *bytes);
    return unpack_whole(target, start, whole, length);
}

static int unpack(target *target, size_t first, const char *packed, size_t bytes)
{
    int status = 0;
    for (size_t done = 0, some; done < bytes && 0 <= status; done += some) {
        const size_t position = first + done;
        some = bytes - done;
        const int is_within = position != seek(&target->reading, position);
        const size_t end = is_within ? position : seek(&target->reading, position + some);
        if (position < end) {
            some = end - position;
            status = unpack_whole(target, position, packed + done, some);
        } else {
            status = unpack_part(target, position, packed + done, &some);
        }
    }
    return status;
}

int rustcoll_shim_copy(const void *source, size_t source_count, const void *source_datatype, void *memory,
                       size_t target_count, const void *target_datatype)
{
    if (source_datatype == target_datatype && NULL != source_datatype) {
        return 0 == ompi_datatype_copy_content_same_ddt(source_datatype, source_count, memory, (char *) source)
                   ? MPI_SUCCESS
                   : MPI_ERR_INTERN;
    }
    /* Copies through a small buffer: Open MPI has no other conversion between two layouts. */
    char piece[16384];
    const size_t bytes = source_count * layout(source_datatype)->size;
    opal_convertor_t reading;
    target to;
    prepare_to_read(&reading, source, source_datatype, source_count);
    prepare_to_write(&to, memory, target_datatype, target_count);
    int status = 0;
    for (size_t done = 0, some; done < bytes && 0 <= status; done += some) {
        some = sizeof piece;
        status = pack_some(&reading, done, piece, &some);
        if (0 <= status) {
            status = unpack(&to, done, piece, some);
        }
    }
    leave(&to);
    OBJ_DESTRUCT(&reading);
    return 0 > status ? MPI_ERR_INTERN : MPI_SUCCESS;
}

/* Returns how many elements have so many bytes, the last one perhaps in part. */
static size_t elements_of(size_t bytes, const void *datatype)
{
    return (bytes + layout(datatype)->size - 1) / layout(datatype)->size;
}

int rustcoll_shim_pack(const void *source, const void *datatype, size_t first, size_t bytes, void *packed)
{
    opal_convertor_t reading;
    prepare_to_read(&reading, source, datatype, elements_of(first + bytes, datatype));
    int status = 0;
    for (size_t done = 0, some; done < bytes && 0 <= status; done += some) {
        some = bytes - done;
        status = pack_some(&reading, first + done, (char *) packed + done, &some);
    }
    OBJ_DESTRUCT(&reading);
    return 0 > status ? MPI_ERR_INTERN : MPI_SUCCESS;
}

int rustcoll_shim_unpack(const void *packed, size_t bytes, void *memory, const void *datatype, size_t first)
{
    target to;
    prepare_to_write(&to, memory, datatype, elements_of(first + bytes, datatype));
    int status = unpack(&to, first, packed, bytes);
    leave(&to);
    return 0 > status ? MPI_ERR_INTERN : MPI_SUCCESS;
}

void rustcoll_shim_reduce(const void *operator_, const void *source, void *target, size_t count,
                          const void *datatype)
{
    ompi_op_reduce((ompi_op_t *) operator_, (void *) source, target, count, (ompi_datatype_t *) datatype);
}

int rustcoll_shim_reduce_apart(const void *operator_, const void *left, const void *right, void *target, size_t count,
                               const void *datatype)
{
    ompi_op_t *operation = (ompi_op_t *) operator_;
    ompi_datatype_t *type = (ompi_datatype_t *) datatype;
    if (!ompi_op_is_intrinsic(operation)
        || !ompi_datatype_is_predefined(type)
        || NULL == operation->o_3buff_intrinsic.fns[ompi_op_ddt_map[type->id]]
        || count > INT_MAX) {
        return 0;
    }
    ompi_3buff_op_reduce(operation, (void *) left, (void *) right, target, (int) count, type);
    return 1;
}

void rustcoll_shim_progress(void) { opal_progress(); }

int rustcoll_shim_is_threaded(void) { return opal_using_threads(); }

int rustcoll_shim_is_crowded(void)
{
    /* Asked once: the C library reads a file for it. */
    static atomic_long processors;
    if (0 == processors) {
        processors = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return opal_progress_yield_when_idle || opal_process_info.num_local_peers >= processors;
}

int rustcoll_shim_is_preloaded(void) { return 0; }

const char *rustcoll_shim_switches(void) { return ""; }

/* The tags that Open MPI reserves. Collectives among neighbours share those of the ordinary collectives. */
int rustcoll_shim_tag(int collective)
{
    static const int tags[] = {
        [RUSTCOLL_ALLGATHER] = MCA_COLL_BASE_TAG_ALLGATHER,
        [RUSTCOLL_ALLGATHERV] = MCA_COLL_BASE_TAG_ALLGATHERV,
        [RUSTCOLL_ALLREDUCE] = MCA_COLL_BASE_TAG_ALLREDUCE,
        [RUSTCOLL_ALLTOALL] = MCA_COLL_BASE_TAG_ALLTOALL,
        [RUSTCOLL_ALLTOALLV] = MCA_COLL_BASE_TAG_ALLTOALLV,
        [RUSTCOLL_ALLTOALLW] = MCA_COLL_BASE_TAG_ALLTOALLW,
        [RUSTCOLL_BARRIER] = MCA_COLL_BASE_TAG_BARRIER,
        [RUSTCOLL_BCAST] = MCA_COLL_BASE_TAG_BCAST,
        [RUSTCOLL_EXSCAN] = MCA_COLL_BASE_TAG_EXSCAN,
        [RUSTCOLL_GATHER] = MCA_COLL_BASE_TAG_GATHER,
        [RUSTCOLL_GATHERV] = MCA_COLL_BASE_TAG_GATHERV,
        [RUSTCOLL_NEIGHBOR_ALLGATHER] = MCA_COLL_BASE_TAG_ALLGATHER,
        [RUSTCOLL_NEIGHBOR_ALLGATHERV] = MCA_COLL_BASE_TAG_ALLGATHERV,
        [RUSTCOLL_NEIGHBOR_ALLTOALL] = MCA_COLL_BASE_TAG_ALLTOALL,
        [RUSTCOLL_NEIGHBOR_ALLTOALLV] = MCA_COLL_BASE_TAG_ALLTOALLV,
        [RUSTCOLL_NEIGHBOR_ALLTOALLW] = MCA_COLL_BASE_TAG_ALLTOALLW,
        [RUSTCOLL_REDUCE] = MCA_COLL_BASE_TAG_REDUCE,
        [RUSTCOLL_REDUCE_SCATTER] = MCA_COLL_BASE_TAG_REDUCE_SCATTER,
        [RUSTCOLL_REDUCE_SCATTER_BLOCK] = MCA_COLL_BASE_TAG_REDUCE_SCATTER_BLOCK,
        [RUSTCOLL_SCAN] = MCA_COLL_BASE_TAG_SCAN,
        [RUSTCOLL_SCATTER] = MCA_COLL_BASE_TAG_SCATTER,
        [RUSTCOLL_SCATTERV] = MCA_COLL_BASE_TAG_SCATTERV,
    };
    return tags[collective];
}

/* The last tag for collectives among neighbours. Open MPI's own use two tags for each dimension, from the first one on. Where a network sends
 * only the last bits of a tag, that of a non-blocking collective may equal it; but none is in flight when MPI ends. */
int rustcoll_shim_profile_tag(void) { return MCA_COLL_BASE_TAG_NEIGHBOR_END; }

const void *rustcoll_shim_byte(void) { return &ompi_mpi_byte.dt; }
const void *rustcoll_shim_number(void) { return &ompi_mpi_uint64_t.dt; }
const void *rustcoll_shim_maximum(void) { return &ompi_mpi_op_max.op; }
const void *rustcoll_shim_union(void) { return &ompi_mpi_op_bor.op; }
void *rustcoll_shim_in_place(void) { return MPI_IN_PLACE; }

/* Whether all processes of a group are of this job. A rank may not know which processes of other jobs are on its node. */
static int is_of_one_job(ompi_group_t *group)
{
    for (int rank = 0; rank < ompi_group_size(group); rank++) {
        if (OPAL_PROC_MY_NAME.jobid != ompi_group_get_proc_name(group, rank).jobid) {
            return 0;
        }
    }
    return 1;
}

int rustcoll_shim_spread(const void *communicator)
{
    ompi_group_t *group = ((const ompi_communicator_t *) communicator)->c_local_group;
    if (!is_of_one_job(group)) {
        return 0;
    }
    return ompi_group_have_remote_peers(group) ? RUSTCOLL_ON_SEVERAL_NODES : RUSTCOLL_ON_ONE_NODE;
}

void rustcoll_shim_host_name(char *name, size_t length)
{
    if (0 != gethostname(name, length)) {
        name[0] = '\0';
    }
    name[length - 1] = '\0';
}

void rustcoll_open_output(void)
{
    if (0 > output_stream) {
        output_stream = opal_output_open(NULL);
    }
}

void rustcoll_close_output(void)
{
    opal_output_close(output_stream);
    output_stream = -1;
}

void rustcoll_shim_output(const char *line) { opal_output(output_stream, "%s", line); }

void rustcoll_shim_abort(const void *communicator, const char *message)
{
    opal_output(0, "%s", message);
    ompi_mpi_abort((ompi_communicator_t *) communicator, MPI_ERR_INTERN);
}

/* While MPI_Init runs, this job and the one that started it connect by collectives; and a communicator between two jobs serves some before it
 * is complete. */
int rustcoll_shim_is_complete(const void *communicator)
{
    return OMPI_MPI_STATE_INIT_STARTED != ompi_mpi_state && !OMPI_COMM_IS_INVALID((const ompi_communicator_t *) communicator);
}

unsigned long long rustcoll_shim_shared_number(const void *communicator) { return rustcoll_shared_number(communicator); }

#define COMMUNICATOR_OF(handle) ((MPI_Comm) (intptr_t) (handle))
#define OWN_OF(handle) COMMUNICATOR_OF(handle)
#define DATATYPE_OF(handle) ((MPI_Datatype) (intptr_t) (handle))
#define OPERATOR_OF(handle) ((MPI_Op) (intptr_t) (handle))
#include "names.h"
