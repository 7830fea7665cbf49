/* The differences between the series of Open MPI that the component can be built for: 4.1, 5.0 and 6.0. The other files
 * use what is defined here, and are the same for all series. */
#ifndef RUSTCOLL_SERIES_H
#define RUSTCOLL_SERIES_H

#include <stdlib.h>
#include <string.h>

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/request/request.h"
#include "ompi/runtime/params.h"
#include "opal/mca/base/mca_base_var_enum.h"
#include "opal/util/info.h"

#define RUSTCOLL_IS_SERIES(major, minor) (major == OMPI_MAJOR_VERSION && minor == OMPI_MINOR_VERSION)

#if RUSTCOLL_IS_SERIES(4, 1)
#include "ompi/mca/rte/rte.h"
#include "ompi/mca/pml/base/base.h"
#include "opal/mca/btl/base/base.h"
#include "opal/mca/pmix/pmix.h"
#if OPAL_CUDA_SUPPORT
#include "opal/datatype/opal_datatype_cuda.h"
#endif
#define RUSTCOLL_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#elif RUSTCOLL_IS_SERIES(5, 0)
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/accelerator/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"
#define RUSTCOLL_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#elif RUSTCOLL_IS_SERIES(6, 0)
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/accelerator/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"
#define RUSTCOLL_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
#else
#error "rustcoll's component knows Open MPI 4.1, 5.0 and 6.0, and these headers are of another series"
#endif

/* The types of counts, arrays of counts and displacements that components get; and the conversions to those of the
 * neutral interface and of calls of other components. */
#if OMPI_MAJOR_VERSION >= 6
#define COUNT size_t
#define COUNTS ompi_count_array_t
#define DISPLACEMENTS ompi_disp_array_t
#define BYTE_DISPLACEMENTS ompi_disp_array_t
#define COUNT_AT(counts, rank) ompi_count_array_get(counts, rank)
#define NUMBERS(array) ((rustcoll_numbers) {ompi_count_array_ptr(array), ompi_count_array_is_64bit(array)})
#define RUSTCOLL_COUNTS(ints) ompi_count_array_create(ints)
#define RUSTCOLL_DISPLACEMENTS(ints) ompi_disp_array_create(ints)
#else
#define COUNT int
#define COUNTS const int *
#define DISPLACEMENTS const int *
#define BYTE_DISPLACEMENTS const MPI_Aint *
#define RUSTCOLL_COUNTS(ints) (ints)
#define RUSTCOLL_DISPLACEMENTS(ints) (ints)
#endif

/* Leaves an attribute out of duplicates of its communicator, as MPI_COMM_NULL_COPY_FN does. */
#if RUSTCOLL_IS_SERIES(4, 1)
static inline int rustcoll_copy_no_attribute(MPI_Comm communicator, int key, void *extra, void *value, void *copy, int *is_copied,
                                             MPI_Comm duplicate)
#else
static inline int rustcoll_copy_no_attribute(MPI_Comm communicator, int key, void *extra, void *value, void *copy, int *is_copied)
#endif
{
    *is_copied = 0;
    return MPI_SUCCESS;
}

/* An error of collectives on a communicator if processes are known to have failed, or the communicator was revoked,
 * else MPI_SUCCESS; and whether a request has ended because of that. Both change only while Open MPI makes progress. */
#if OPAL_ENABLE_FT_MPI
static inline int rustcoll_failure(const ompi_communicator_t *communicator)
{
    return communicator->comm_revoked ? MPI_ERR_REVOKED : communicator->coll_revoked ? MPI_ERR_PROC_FAILED : MPI_SUCCESS;
}
static inline int rustcoll_is_failed(ompi_request_t *request) { return ompi_request_is_failed(request); }
#else
static inline int rustcoll_failure(const ompi_communicator_t *communicator) { return MPI_SUCCESS; }
static inline int rustcoll_is_failed(ompi_request_t *request) { return 0; }
#endif

/* The slots of a module beside those of the collectives. Two of them (agree, iagree) agree on failures. MPI calls them in jobs without
 * failures as well. So this component serves them if no component below does, or only one that survives no failure. After a failure they
 * return an error for which MPI does not try again, as it does for MPI_ERR_PROC_FAILED. */
#if OPAL_ENABLE_FT_MPI
#define RUSTCOLL_EACH_OTHER_SLOT(apply) apply(reduce_local) apply(agree) apply(iagree)
static inline int rustcoll_agree_without_failures(void *values, COUNT count, struct ompi_datatype_t *datatype,
                                                  struct ompi_op_t *operator_, struct ompi_group_t **failed, bool updates,
                                                  struct ompi_communicator_t *communicator, mca_coll_base_module_t *module)
{
    int error = rustcoll_failure(communicator);
    if (MPI_SUCCESS == error) {
        error = ompi_coll_base_agree_noft(values, count, datatype, operator_, failed, updates, communicator, module);
    }
    return MPI_ERR_PROC_FAILED == error || MPI_ERR_REVOKED == error ? MPI_ERR_UNSUPPORTED_OPERATION : error;
}
static inline int rustcoll_iagree_without_failures(void *values, COUNT count, struct ompi_datatype_t *datatype,
                                                   struct ompi_op_t *operator_, struct ompi_group_t **failed, bool updates,
                                                   struct ompi_communicator_t *communicator, ompi_request_t **request,
                                                   mca_coll_base_module_t *module)
{
    if (MPI_SUCCESS != rustcoll_failure(communicator)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return ompi_coll_base_iagree_noft(values, count, datatype, operator_, failed, updates, communicator, request, module);
}
static inline void rustcoll_complete_slots(mca_coll_base_module_t *module, const mca_coll_base_comm_coll_t *below)
{
    if (NULL == below->coll_agree || ompi_coll_base_agree_noft == below->coll_agree) {
        module->coll_agree = rustcoll_agree_without_failures;
    }
    if (NULL == below->coll_iagree || ompi_coll_base_iagree_noft == below->coll_iagree) {
        module->coll_iagree = rustcoll_iagree_without_failures;
    }
}
/* Whether the job is to survive failures, but no component can agree on them. */
static inline int rustcoll_lacks_agreement(void)
{
    const mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, &ompi_coll_base_framework.framework_components, mca_base_component_list_item_t) {
        if (0 == strcmp("ftagree", item->cli_component->mca_component_name)) {
            return 0;
        }
    }
    return ompi_ftmpi_enabled;
}
#else
#define RUSTCOLL_EACH_OTHER_SLOT(apply) apply(reduce_local)
static inline void rustcoll_complete_slots(mca_coll_base_module_t *module, const mca_coll_base_comm_coll_t *below) {}
static inline int rustcoll_lacks_agreement(void) { return 0; }
#endif

/* Whether a module itself enters its slots in the communicator when it is enabled, and removes them when it is
 * disabled. If not, Open MPI does so. */
#define RUSTCOLL_ENTERS_ITS_SLOTS (OMPI_MAJOR_VERSION >= 6)

/* For static builds. */
#ifndef MCA_BASE_COMPONENT_INIT
#define MCA_BASE_COMPONENT_INIT(project, framework, name)
#endif

/* 0 for a job that a launcher started, else the number of one that MPI_Comm_spawn started. The jobs of a launcher that goes on running have
 * numbers too. */
static inline int rustcoll_job(void)
{
    if (NULL == getenv("OMPI_PARENT_PORT")) {
        return 0;
    }
#if OMPI_MAJOR_VERSION >= 5
    const char *number = strrchr(opal_process_info.myprocid.nspace, '@');
    return NULL == number ? 0 : atoi(number + 1) - 1;
#else
    return (int) (OPAL_PROC_MY_NAME.jobid & 0xffff) - 1;
#endif
}

/* A communicator's number in this process. */
static inline unsigned rustcoll_identifier(const ompi_communicator_t *communicator)
{
#if OMPI_MAJOR_VERSION >= 5
    return communicator->c_index;
#else
    return communicator->c_contextid;
#endif
}

/* A communicator's number, the same at all its ranks. Later communicators get the numbers of freed ones again. */
static inline uint64_t rustcoll_shared_number(const ompi_communicator_t *communicator)
{
#if OMPI_MAJOR_VERSION >= 5
    return communicator->c_contextid.cid_base * UINT64_C(0x9e3779b97f4a7c15) + communicator->c_contextid.cid_sub.u64;
#else
    return communicator->c_contextid;
#endif
}

/* The texts of info entries. */
#if OMPI_MAJOR_VERSION >= 5
static inline const char *rustcoll_text(const opal_cstring_t *text) { return text->string; }
#else
static inline const char *rustcoll_text(const char *text) { return text; }
#endif

/* Devices, such as GPUs: whether Open MPI knows any here, whether an address is in a device's memory, and whether
 * memory of the host can be made known to devices. */
#if OMPI_MAJOR_VERSION >= 5
static inline int rustcoll_has_devices(void)
{
    return 0 != strcmp("null", opal_accelerator_base_selected_component.base_version.mca_component_name);
}
static inline int rustcoll_is_on_device(const void *address)
{
    int device;
    uint64_t flags;
    return 0 < opal_accelerator.check_addr(address, &device, &flags);
}
static inline int rustcoll_register_host(void *address, size_t bytes)
{
    return OPAL_SUCCESS == opal_accelerator.host_register(MCA_ACCELERATOR_NO_DEVICE_ID, address, bytes);
}
static inline int rustcoll_unregister_host(void *address)
{
    return OPAL_SUCCESS == opal_accelerator.host_unregister(MCA_ACCELERATOR_NO_DEVICE_ID, address);
}
#elif OPAL_CUDA_SUPPORT
static inline int rustcoll_has_devices(void) { return 1; }
static inline int rustcoll_is_on_device(const void *address) { return opal_cuda_check_bufs((char *) address, (char *) address); }
#else
static inline int rustcoll_has_devices(void) { return 0; }
static inline int rustcoll_is_on_device(const void *address) { return 0; }
#endif
#if OMPI_MAJOR_VERSION < 5
static inline int rustcoll_register_host(void *address, size_t bytes) { return 0; }
static inline int rustcoll_unregister_host(void *address) { return 0; }
#endif

/* How an enumerator writes its legal values. */
#if OMPI_MAJOR_VERSION >= 5
#define RUSTCOLL_DUMP_PARAMETERS mca_base_var_enum_t *self, char **text, mca_base_var_enum_dump_type_t form
static inline int rustcoll_dump(mca_base_var_enum_t *enumerator, char **text)
{
    return enumerator->dump(enumerator, text, MCA_BASE_VAR_ENUM_DUMP_READABLE);
}
#else
#define RUSTCOLL_DUMP_PARAMETERS mca_base_var_enum_t *self, char **text
static inline int rustcoll_dump(mca_base_var_enum_t *enumerator, char **text) { return enumerator->dump(enumerator, text); }
#endif

/* Whether this process has TCP alone to send to other nodes, as far as it knows before processes exchange data in MPI_Init; and whether messages
 * then go by what it has. Only 4.1 prepares its transports (BTLs) before the exchange. A component of the kind pml that uses no BTL is chosen later. */
#if RUSTCOLL_IS_SERIES(4, 1)
static inline int rustcoll_has_only_tcp(void)
{
    static const char *const of_node[] = {"self", "sm", "smcuda", "vader"};
    const mca_btl_base_selected_module_t *transport;
    int has_tcp = 0;
    OPAL_LIST_FOREACH(transport, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t) {
        const char *name = transport->btl_component->btl_version.mca_component_name;
        int is_of_node = 0;
        for (size_t i = 0; i < sizeof of_node / sizeof *of_node; i++) {
            is_of_node |= 0 == strcmp(of_node[i], name);
        }
        int is_tcp = 0 == strcmp("tcp", name);
        if (!is_tcp && !is_of_node) {
            return 0;
        }
        has_tcp |= is_tcp;
    }
    return has_tcp;
}
static inline int rustcoll_uses_transports(void)
{
    return 0 == strcmp("ob1", mca_pml_base_selected_component.pmlm_version.mca_component_name);
}
#else
static inline int rustcoll_has_only_tcp(void) { return 0; }
static inline int rustcoll_uses_transports(void) { return 0; }
#endif

/* The exchange of data between processes when they start. Tools, such as ompi_info, have no such service. */
#if OMPI_MAJOR_VERSION >= 5
static inline int rustcoll_can_exchange(void) { return PMIx_Initialized(); }
#define RUSTCOLL_EVERYWHERE PMIX_GLOBAL
#else
static inline int rustcoll_can_exchange(void) { return NULL != opal_pmix.put; }
#define RUSTCOLL_EVERYWHERE OPAL_PMIX_GLOBAL
#endif

/* Returns what a process has published under a key, or NULL; the caller frees it. Unless `at_once`, the service waits
 * some seconds for data that it does not know: if data are not exchanged in advance, it has to fetch them. */
#if OMPI_MAJOR_VERSION >= 5
static inline char *rustcoll_told_by(opal_process_name_t process, const char *key, int at_once)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    int status;
    if (at_once) {
        OPAL_MODEX_RECV_STRING_IMMEDIATE(status, key, &process, &bytes, &size);
    } else {
        OPAL_MODEX_RECV_STRING(status, key, &process, &bytes, &size);
    }
    char *text = PMIX_SUCCESS == status && NULL != bytes ? strndup((char *) bytes, size) : NULL;
    free(bytes);
    return text;
}
#else
static inline char *rustcoll_told_by(opal_process_name_t process, const char *key, int at_once)
{
    char *text = NULL;
    opal_value_t *value = NULL, *immediate = OBJ_NEW(opal_value_t);
    opal_list_t options;
    OBJ_CONSTRUCT(&options, opal_list_t);
    immediate->key = strdup(OPAL_PMIX_IMMEDIATE);
    immediate->type = OPAL_BOOL;
    immediate->data.flag = true;
    opal_list_append(&options, &immediate->super);
    if (OPAL_SUCCESS == opal_pmix.get(&process, key, at_once ? &options : NULL, &value) && NULL != value) {
        text = strndup((char *) value->data.bo.bytes, value->data.bo.size);
        OBJ_RELEASE(value);
    }
    OPAL_LIST_DESTRUCT(&options);
    return text;
}
#endif

#endif
