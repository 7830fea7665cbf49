/* What Rust asks of Open MPI and is a macro, an inline function or a data object there. */

#include "component.h"

#include <limits.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
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

int rustcoll_shim_wait(void **handle)
{
    ompi_request_t *request = *handle;
    ompi_request_wait_completion(request);
    int error = request->req_status.MPI_ERROR;
    ompi_request_free((ompi_request_t **) handle);
    *handle = NULL;
    return error;
}

void rustcoll_shim_abandon(void **handle)
{
    ompi_request_t *request = *handle;
    if (!REQUEST_COMPLETE(request)) {
        ompi_request_cancel(request);
    }
    ompi_request_free((ompi_request_t **) handle);
    *handle = NULL;
}

static const opal_datatype_t *layout(const void *datatype)
{
    return NULL == datatype ? &ompi_mpi_byte.dt.super : &((const ompi_datatype_t *) datatype)->super;
}

int rustcoll_shim_copy(const void *source, size_t source_count, const void *source_datatype, void *target,
                       size_t target_count, const void *target_datatype)
{
    if (source_datatype == target_datatype && NULL != source_datatype) {
        return 0 == ompi_datatype_copy_content_same_ddt(source_datatype, target_count, target, (char *) source)
                   ? MPI_SUCCESS
                   : MPI_ERR_INTERN;
    }
    /* Through a small buffer; datatypes carry no other conversion between two layouts. */
    char piece[16384];
    opal_convertor_t packing, unpacking;
    OBJ_CONSTRUCT(&packing, opal_convertor_t);
    OBJ_CONSTRUCT(&unpacking, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, layout(source_datatype), source_count, source,
                                             0, &packing);
    opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, layout(target_datatype), target_count, target,
                                             0, &unpacking);
    int is_packed = 0, is_unpacked = 0;
    while (!is_packed && !is_unpacked) {
        struct iovec packed = {.iov_base = piece, .iov_len = sizeof piece};
        uint32_t vectors = 1;
        size_t bytes = sizeof piece;
        is_packed = opal_convertor_pack(&packing, &packed, &vectors, &bytes);
        packed = (struct iovec) {.iov_base = piece, .iov_len = bytes};
        vectors = 1;
        is_unpacked = opal_convertor_unpack(&unpacking, &packed, &vectors, &bytes);
    }
    OBJ_DESTRUCT(&packing);
    OBJ_DESTRUCT(&unpacking);
    return MPI_SUCCESS;
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
    /* ompi_3buff_op_reduce would exchange the operands of a user's operator. */
    if (ompi_op_is_intrinsic(operation) && ompi_datatype_is_predefined(type)
        && NULL != operation->o_3buff_intrinsic.fns[ompi_op_ddt_map[type->id]]) {
        ptrdiff_t extent = type->super.ub - type->super.lb;
        for (size_t done = 0; done < count;) {
            int some = count - done > INT_MAX ? INT_MAX : (int) (count - done);
            ptrdiff_t shift = (ptrdiff_t) done * extent;
            ompi_3buff_op_reduce(operation, (char *) left + shift, (char *) right + shift, (char *) target + shift,
                                 some, type);
            done += (size_t) some;
        }
        return MPI_SUCCESS;
    }
    int status = rustcoll_shim_copy(right, count, datatype, target, count, datatype);
    if (MPI_SUCCESS == status) {
        rustcoll_shim_reduce(operator_, left, target, count, datatype);
    }
    return status;
}

const void *rustcoll_shim_byte(void) { return &ompi_mpi_byte.dt; }

void rustcoll_open_output(void)
{
    if (0 > output_stream) {
        output_stream = opal_output_open(NULL);
    }
}

void rustcoll_shim_output(const char *line) { opal_output(output_stream, "%s", line); }

void rustcoll_shim_abort(const void *communicator, const char *message)
{
    opal_output(0, "%s", message);
    ompi_mpi_abort((ompi_communicator_t *) communicator, MPI_ERR_INTERN);
}
