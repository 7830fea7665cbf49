/* The module's slots: each describes its call in the neutral form, hands it to Rust, and if Rust says so calls the
 * component below. */

#include "component.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

#define FORM(name) name
#include "describe.h"

/* The three slots of a collective: they differ in what follows the arguments that SIGNATURE_PARAMETERS declares and
 * SIGNATURE_ARGUMENTS passes on. */
#define SLOTS(number, Name, name, signature, describe)                                                             \
    static int blocking_##name(signature##_PARAMETERS, mca_coll_base_module_t *super)                        \
    {                                                                                                        \
        const rustcoll_module *module = (rustcoll_module *) super;                                           \
        rustcoll_description described;                                                                      \
        described.group = &module->group;                                                                    \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        describe(&described, signature##_ARGUMENTS);                                                         \
        int status = rustcoll_run(module->state, &described.call);                                           \
        if (RUSTCOLL_BELOW == status) {                                                                      \
            status = module->below.coll_##name(signature##_ARGUMENTS, module->below.coll_##name##_module);   \
            rustcoll_ended_below(module->state);                                                             \
            return status;                                                                                   \
        }                                                                                                    \
        return rustcoll_error_of_mpi(status);                                                                \
    }                                                                                                        \
    static int nonblocking_##name(signature##_PARAMETERS, ompi_request_t **request,                          \
                                  mca_coll_base_module_t *super)                                             \
    {                                                                                                        \
        rustcoll_module *module = (rustcoll_module *) super;                                                 \
        rustcoll_description described;                                                                      \
        described.group = &module->group;                                                                    \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        describe(&described, signature##_ARGUMENTS);                                                         \
        int status = rustcoll_request_new(module, &described.call, 0, communicator, request);                \
        return RUSTCOLL_BELOW != status ? status                                                             \
                                        : module->below.coll_i##name(signature##_ARGUMENTS, request,         \
                                                                     module->below.coll_i##name##_module);   \
    }                                                                                                        \
    static int persistent_##name(signature##_PARAMETERS, struct ompi_info_t *info, ompi_request_t **request, \
                                 mca_coll_base_module_t *super)                                              \
    {                                                                                                        \
        rustcoll_module *module = (rustcoll_module *) super;                                                 \
        rustcoll_description described;                                                                      \
        described.group = &module->group;                                                                    \
        described.call = (rustcoll_call) {.collective = RUSTCOLL_##number};                                  \
        describe(&described, signature##_ARGUMENTS);                                                         \
        int status = rustcoll_request_new(module, &described.call, 1, communicator, request);                \
        return RUSTCOLL_BELOW != status                                                                      \
                   ? status                                                                                  \
                   : module->below.coll_##name##_init(signature##_ARGUMENTS, info, request,                  \
                                                      module->below.coll_##name##_init_module);              \
    }

RUSTCOLL_EACH(SLOTS)

rustcoll_operator rustcoll_describe_operator(MPI_Op operator_)
{
    return (rustcoll_operator) {operator_, ompi_op_is_commute(operator_), ompi_op_is_intrinsic(operator_)};
}

static int reduce_local(const void *source, void *target, COUNT count, struct ompi_datatype_t *datatype,
                        struct ompi_op_t *operator_, mca_coll_base_module_t *super)
{
    ompi_op_reduce(operator_, (void *) source, target, (size_t) count, datatype);
    return MPI_SUCCESS;
}

void rustcoll_fill_slots(mca_coll_base_module_t *module, int is_inter)
{
#define FILL(number, Name, name, ...)                                                                                   \
    module->coll_##name = blocking_##name;                                                                   \
    module->coll_i##name = nonblocking_##name;                                                               \
    module->coll_##name##_init = persistent_##name;
    RUSTCOLL_EACH(FILL)
#undef FILL
    module->coll_reduce_local = reduce_local;
    if (is_inter) {
        /* MPI has no prefix reductions on inter-communicators. */
        module->coll_scan = NULL;
        module->coll_iscan = NULL;
        module->coll_scan_init = NULL;
        module->coll_exscan = NULL;
        module->coll_iexscan = NULL;
        module->coll_exscan_init = NULL;
    }
}
