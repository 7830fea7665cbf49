/* The component: what Open MPI finds when it loads the plug-in. */

#include "component.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/rte/rte.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/info.h"
#include "opal/util/output.h"
#include "opal/util/show_help.h"

#define HELP "help-mca-coll-rustcoll.txt"

/* The release this component is built for; a test overrides it. */
#ifndef RUSTCOLL_RELEASE
#define STRINGIFY_EXPANDED(text) #text
#define STRINGIFY(text) STRINGIFY_EXPANDED(text)
#define RUSTCOLL_RELEASE \
    STRINGIFY(OMPI_MAJOR_VERSION) "." STRINGIFY(OMPI_MINOR_VERSION) "." STRINGIFY(OMPI_RELEASE_VERSION)
#endif

static int register_parameters(void);
static int open_component(void);
static int init_query(bool enable_progress_threads, bool enable_mpi_threads);
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *communicator, int *priority);

mca_coll_base_component_t mca_coll_rustcoll_component = {
    .collm_version =
        {
            MCA_COLL_BASE_VERSION_2_0_0,
            .mca_component_name = "rustcoll",
            MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
            .mca_register_component_params = register_parameters,
            .mca_open_component = open_component,
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};

static int register_parameters(void)
{
    rustcoll_register_parameters(&mca_coll_rustcoll_component.collm_version);
    return OMPI_SUCCESS;
}

/* The help text lies beside the plug-in, wherever that was installed. */
static int open_component(void)
{
    Dl_info info;
    if (dladdr(&mca_coll_rustcoll_component, &info) && NULL != info.dli_fname) {
        char path[4096];
        snprintf(path, sizeof path, "%s", info.dli_fname);
        opal_show_help_add_dir(dirname(path));
    }
    rustcoll_open_output();
    return OMPI_SUCCESS;
}

/* The release of the library that is running, from a text like "Open MPI v4.1.4, package: ...". */
static void running_release(char release[32])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    release[0] = '\0';
    if (MPI_SUCCESS == PMPI_Get_library_version(text, &length)) {
        sscanf(text, "Open MPI v%31[0-9.]", release);
    }
}

static int is_built_for_this_release(void)
{
    char release[32];
    running_release(release);
    if (0 != strcmp(release, RUSTCOLL_RELEASE)) {
        opal_show_help(HELP, "wrong-release", true, RUSTCOLL_RELEASE, release);
        return 0;
    }
    /* Distributors patch: what the library says of its structures must agree with the headers as well. */
    const struct {
        const char *name;
        size_t running, built;
    } structures[] = {
        {"mca_coll_base_module_t", OBJ_CLASS(mca_coll_base_module_t)->cls_sizeof, sizeof(mca_coll_base_module_t)},
        {"ompi_communicator_t", OBJ_CLASS(ompi_communicator_t)->cls_sizeof, sizeof(ompi_communicator_t)},
        {"ompi_datatype_t", OBJ_CLASS(ompi_datatype_t)->cls_sizeof, sizeof(ompi_datatype_t)},
        {"ompi_op_t", OBJ_CLASS(ompi_op_t)->cls_sizeof, sizeof(ompi_op_t)},
        {"ompi_request_t", OBJ_CLASS(ompi_request_t)->cls_sizeof, sizeof(ompi_request_t)},
    };
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++) {
        if (structures[i].running != structures[i].built) {
            opal_show_help(HELP, "wrong-structure", true, structures[i].name, (int) structures[i].built,
                           (int) structures[i].running);
            return 0;
        }
    }
    return 1;
}

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    if (!is_built_for_this_release()) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    if (!rustcoll_parameters_are_legal()) {
        /* Open MPI has shown which value is wrong and which are right; running on with a default would hide it. */
        ompi_rte_abort(1, NULL);
    }
    rustcoll_start(rustcoll_verbosity());
    return OMPI_SUCCESS;
}

/* The value of `--mca coll`. */
static const char *named_components(void)
{
    const char *const *value = NULL;
    int index = mca_base_var_find("ompi", "coll", NULL, NULL);
    return 0 <= index && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL) && NULL != value ? *value
                                                                                                          : NULL;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *communicator, int *priority)
{
    char preference[OPAL_MAX_INFO_VAL + 1];
    int has_preference = 0, given = 0, is_given = rustcoll_given_priority(&given);
    *priority = -1;
    if (OMPI_COMM_IS_INTER(communicator)) {
        return NULL;
    }
    if (NULL != communicator->super.s_info) {
        opal_info_get(communicator->super.s_info, "ompi_comm_coll_preference", sizeof preference, preference,
                      &has_preference);
    }
    *priority = rustcoll_priority(is_given, given, named_components(), has_preference ? preference : NULL);
    if (0 > *priority) {
        return NULL;
    }
    rustcoll_module *module = rustcoll_module_new();
    return NULL == module ? NULL : &module->super;
}
