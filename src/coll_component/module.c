/* The module of a communicator: thunks from Open MPI's slots to Rust, and to the component below. */

#include "component.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

static void construct(rustcoll_module *module)
{
    memset(&module->below, 0, sizeof module->below);
    module->has_saved = 0;
    module->state = NULL;
}

/* The modules below that this module's slots may call. */
static void each_saved(rustcoll_module *module, void (*apply)(mca_coll_base_module_t *))
{
    mca_coll_base_module_t *const saved[] = {
        module->below.coll_allreduce_module,
        module->below.coll_alltoall_module,
        module->below.coll_bcast_module,
    };
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        if (NULL != saved[i]) {
            apply(saved[i]);
        }
    }
}

static void retain(mca_coll_base_module_t *module) { OBJ_RETAIN(module); }
static void release(mca_coll_base_module_t *module) { OBJ_RELEASE(module); }

static void destruct(rustcoll_module *module)
{
    if (module->has_saved) {
        each_saved(module, release);
    }
    if (NULL != module->state) {
        rustcoll_communicator_free(module->state);
    }
}

static OBJ_CLASS_INSTANCE(rustcoll_module, mca_coll_base_module_t, construct, destruct);

static rustcoll_datatype describe(const struct ompi_datatype_t *datatype)
{
    const opal_datatype_t *layout = &datatype->super;
    return (rustcoll_datatype) {
        .handle = datatype,
        .size = layout->size,
        .extent = 0 == layout->size ? 0 : layout->ub - layout->lb,
        .true_lb = layout->true_lb,
        .true_extent = (size_t) (layout->true_ub - layout->true_lb),
        .contiguous = opal_datatype_is_contiguous_memory_layout(layout, 2),
    };
}

static int allreduce(const void *send, void *recv, int count, struct ompi_datatype_t *datatype,
                     struct ompi_op_t *operator_, struct ompi_communicator_t *communicator,
                     mca_coll_base_module_t *super)
{
    rustcoll_module *module = (rustcoll_module *) super;
    const rustcoll_datatype type = describe(datatype);
    const rustcoll_operator reduction = {operator_, ompi_op_is_commute(operator_)};
    int status =
        rustcoll_allreduce(module->state, MPI_IN_PLACE == send, send, recv, (size_t) count, &type, &reduction);
    if (RUSTCOLL_BELOW != status) {
        return status;
    }
    return module->below.coll_allreduce(send, recv, count, datatype, operator_, communicator,
                                        module->below.coll_allreduce_module);
}

static int alltoall(const void *send, int send_count, struct ompi_datatype_t *send_datatype, void *recv,
                    int recv_count, struct ompi_datatype_t *recv_datatype, struct ompi_communicator_t *communicator,
                    mca_coll_base_module_t *super)
{
    rustcoll_module *module = (rustcoll_module *) super;
    int in_place = MPI_IN_PLACE == send;
    const rustcoll_datatype recv_type = describe(recv_datatype);
    const rustcoll_datatype send_type = in_place ? recv_type : describe(send_datatype);
    int status = rustcoll_alltoall(module->state, in_place, send, (size_t) send_count, &send_type, recv,
                                   (size_t) recv_count, &recv_type);
    if (RUSTCOLL_BELOW != status) {
        return status;
    }
    return module->below.coll_alltoall(send, send_count, send_datatype, recv, recv_count, recv_datatype, communicator,
                                       module->below.coll_alltoall_module);
}

static int bcast(void *buffer, int count, struct ompi_datatype_t *datatype, int root,
                 struct ompi_communicator_t *communicator, mca_coll_base_module_t *super)
{
    rustcoll_module *module = (rustcoll_module *) super;
    const rustcoll_datatype type = describe(datatype);
    int status = rustcoll_bcast(module->state, buffer, (size_t) count, &type, root);
    if (RUSTCOLL_BELOW != status) {
        return status;
    }
    return module->below.coll_bcast(buffer, count, datatype, root, communicator, module->below.coll_bcast_module);
}

static int enable(mca_coll_base_module_t *super, struct ompi_communicator_t *communicator)
{
    rustcoll_module *module = (rustcoll_module *) super;
    module->below = *communicator->c_coll;
    each_saved(module, retain);
    module->has_saved = 1;
    const rustcoll_below below = {
        .allreduce = NULL != module->below.coll_allreduce,
        .alltoall = NULL != module->below.coll_alltoall,
        .bcast = NULL != module->below.coll_bcast,
    };
    module->state = rustcoll_communicator_new(communicator, ompi_comm_rank(communicator),
                                              ompi_comm_size(communicator), communicator->c_contextid, &below);
    return NULL == module->state ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

rustcoll_module *rustcoll_module_new(void)
{
    rustcoll_module *module = OBJ_NEW(rustcoll_module);
    if (NULL != module) {
        module->super.coll_module_enable = enable;
        module->super.coll_allreduce = allreduce;
        module->super.coll_alltoall = alltoall;
        module->super.coll_bcast = bcast;
    }
    return module;
}
