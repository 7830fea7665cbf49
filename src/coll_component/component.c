/* The component: what Open MPI finds when it loads the plug-in. */

#include "component.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ompi/attribute/attribute.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/topo/topo.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/proc.h"

/* The release this component is built for; a test overrides it. */
#ifndef RUSTCOLL_RELEASE
#define STRINGIFY_EXPANDED(text) #text
#define STRINGIFY(text) STRINGIFY_EXPANDED(text)
#define RUSTCOLL_RELEASE \
    STRINGIFY(OMPI_MAJOR_VERSION) "." STRINGIFY(OMPI_MINOR_VERSION) "." STRINGIFY(OMPI_RELEASE_VERSION) OMPI_GREEK_VERSION
#endif

static int is_built_for_this_release(int is_quiet);
static int priority_on(const char *preference);
static int is_sent_away(void);
static int register_parameters(void);
static int open_component(void);
static int close_component(void);
static int init_query(bool enable_progress_threads, bool enable_mpi_threads);
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *communicator, int *priority);

/* Exported even if Open MPI compiles this file into itself, which hides all other names. */
OMPI_DECLSPEC extern mca_coll_base_component_t mca_coll_rustcoll_component;

mca_coll_base_component_t mca_coll_rustcoll_component = {
    .collm_version =
        {
            RUSTCOLL_COLL_VERSION,
            .mca_component_name = "rustcoll",
            MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
            .mca_register_component_params = register_parameters,
            .mca_open_component = open_component,
            .mca_close_component = close_component,
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};
MCA_BASE_COMPONENT_INIT(ompi, coll, rustcoll)

/* The parameters that the user gives wrongly: one with a value that Open MPI refuses, and one that does not exist. NULL if there is none. */
static struct {
    const char *refused, *legal, *unknown, *nearest, *place;
} wrong;

static void find_wrong_parameters(void)
{
    rustcoll_refused_parameter(&wrong.refused, &wrong.legal);
    wrong.unknown = rustcoll_unknown_parameter(&wrong.nearest, &wrong.place);
}

static int is_any_parameter_wrong(void) { return NULL != wrong.refused || NULL != wrong.unknown; }

/* Registers nothing with another release, whose structures for parameters may have another layout. */
static int register_parameters(void)
{
    if (is_built_for_this_release(1)) {
        rustcoll_register_parameters(&mca_coll_rustcoll_component.collm_version);
    }
    return OMPI_SUCCESS;
}

static int open_component(void)
{
    rustcoll_open_output();
    if (is_built_for_this_release(1)) {
        find_wrong_parameters();
        if (is_sent_away()) {
            rustcoll_publish_absence();
        } else {
            rustcoll_publish(priority_on(NULL), NULL == wrong.refused ? wrong.unknown : wrong.refused);
        }
    }
    return OMPI_SUCCESS;
}

static int close_component(void)
{
    rustcoll_stop_progress();
    rustcoll_finish();
    rustcoll_free_requests();
    rustcoll_close_output();
    return OMPI_SUCCESS;
}

/* The release of the library that is running, from a text like "Open MPI v4.1.4, package: ...". */
static void running_release(char release[32])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    release[0] = '\0';
    if (MPI_SUCCESS == PMPI_Get_library_version(text, &length)) {
        sscanf(text, "Open MPI v%31[^, ]", release);
    }
}

static int is_built_for_this_release(int is_quiet)
{
    char release[32];
    running_release(release);
    if (0 != strcmp(release, RUSTCOLL_RELEASE)) {
        if (!is_quiet && 0 == opal_process_info.my_local_rank) {
            rustcoll_show("wrong-release", RUSTCOLL_RELEASE, release);
        }
        return 0;
    }
    /* Distributors patch Open MPI, so the sizes of the library's structures must agree with the headers as well. */
    const struct {
        const char *name;
        size_t running, built;
    } structures[] = {
        {"mca_coll_base_module_t", OBJ_CLASS(mca_coll_base_module_t)->cls_sizeof, sizeof(mca_coll_base_module_t)},
        {"mca_topo_base_comm_cart_t", OBJ_CLASS(mca_topo_base_comm_cart_2_2_0_t)->cls_sizeof,
         sizeof(mca_topo_base_comm_cart_t)},
        {"mca_topo_base_comm_dist_graph_t", OBJ_CLASS(mca_topo_base_comm_dist_graph_2_2_0_t)->cls_sizeof,
         sizeof(mca_topo_base_comm_dist_graph_t)},
        {"mca_topo_base_comm_graph_t", OBJ_CLASS(mca_topo_base_comm_graph_2_2_0_t)->cls_sizeof,
         sizeof(mca_topo_base_comm_graph_t)},
        {"mca_topo_base_module_t", OBJ_CLASS(mca_topo_base_module_t)->cls_sizeof, sizeof(mca_topo_base_module_t)},
        {"ompi_coll_base_nbc_request_t", OBJ_CLASS(ompi_coll_base_nbc_request_t)->cls_sizeof,
         sizeof(ompi_coll_base_nbc_request_t)},
        {"ompi_communicator_t", OBJ_CLASS(ompi_communicator_t)->cls_sizeof, sizeof(ompi_communicator_t)},
        {"ompi_datatype_t", OBJ_CLASS(ompi_datatype_t)->cls_sizeof, sizeof(ompi_datatype_t)},
        {"ompi_op_t", OBJ_CLASS(ompi_op_t)->cls_sizeof, sizeof(ompi_op_t)},
        {"ompi_request_t", OBJ_CLASS(ompi_request_t)->cls_sizeof, sizeof(ompi_request_t)},
    };
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++) {
        if (structures[i].running != structures[i].built) {
            if (!is_quiet && 0 == opal_process_info.my_local_rank) {
                rustcoll_show("wrong-structure", structures[i].name, (int) structures[i].built,
                              (int) structures[i].running);
            }
            return 0;
        }
    }
    return 1;
}

/* Returns the priority on a communicator; -1 to stay away. `preference`: the value of its info key ompi_comm_coll_preference, or NULL. */
static int priority_on(const char *preference)
{
    int given, is_given = rustcoll_given_priority(&given);
    return rustcoll_priority(is_given, given, rustcoll_text_of("ompi", "coll", NULL, NULL), preference);
}

/* Whether the component is to serve the job as a whole, not only single communicators. */
static int is_asked_for(void) { return 0 <= priority_on(NULL); }

/* Whether the user turns the component off for this job. */
static int is_sent_away(void)
{
    int given;
    return rustcoll_given_priority(&given) && 0 > given;
}

/* Ends a job that cannot run as the user asked. The first rank of each node reports the fault at once. If the job has
 * not ended soon after, the other ranks alone have the fault, so they report it as well. */
static int give_up(int speaks_first, const char *topic, const char *const texts[5])
{
    if (!speaks_first) {
        sleep(2);
    }
    rustcoll_show(topic, texts[0], texts[1], texts[2], texts[3], texts[4]);
    ompi_rte_abort(1, NULL);
    return OMPI_ERROR;
}

void rustcoll_shim_refuse_rules(const char *faults, int speaks_first)
{
    give_up(speaks_first, "refused-rules", (const char *[5]) {faults});
}

static int give_up_over_parameter(int speaks_first)
{
    if (NULL == wrong.refused) {
        return give_up(speaks_first, "unknown-parameter", (const char *[5]) {wrong.unknown, wrong.place, wrong.nearest});
    }
    const char *place, *value = rustcoll_given(wrong.refused, &place);
    if (NULL == value) {
        value = place = "unknown";
    }
    const char *word = rustcoll_nearest_word(wrong.refused, value);
    /* The value may be the name of an algorithm whose file has a fault. */
    if (speaks_first && '\0' != *rustcoll_faults()) {
        rustcoll_show_faults();
    }
    return give_up(speaks_first, "illegal-parameter",
                   (const char *[5]) {wrong.refused, value, place, NULL == word ? "none" : word, wrong.legal});
}

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    int is_first_on_node = 0 == opal_process_info.my_local_rank;
    if (!is_built_for_this_release(is_sent_away() || !(is_asked_for() || rustcoll_gives_parameters()))) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    if (is_sent_away()) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    /* A job that does not ask for the component hears of a wrong parameter once the component is used. A mistyped priority counts as asking. */
    const int misses_priority = NULL != wrong.unknown && 0 == strcmp(wrong.nearest, "coll_rustcoll_priority");
    const int is_asking = is_asked_for() || misses_priority || rustcoll_gives_rules() || '\0' != *rustcoll_faults();
    if (is_asking && is_any_parameter_wrong()) {
        return give_up_over_parameter(is_first_on_node);
    }
    int is_first_of_job = 0 == OPAL_PROC_MY_NAME.vpid;
    rustcoll_start(rustcoll_verbosity(), is_first_on_node, (int) OPAL_PROC_MY_NAME.vpid, rustcoll_job());
    if (is_first_of_job && rustcoll_gives_rules() && !is_asked_for()) {
        rustcoll_show("unused-rules");
    }
    if (is_first_of_job && is_asked_for() && rustcoll_lacks_agreement()) {
        rustcoll_show("no-agreement");
    }
    return OMPI_SUCCESS;
}

/* Returns the components that the communicator's creator prefers, or NULL. */
static const char *preference_of(struct ompi_communicator_t *communicator)
{
    const char *key, *value;
    for (int number = 0; rustcoll_shim_info(communicator, number, &key, &value); number++) {
        if (0 == strcmp(key, "ompi_comm_coll_preference")) {
            return value;
        }
    }
    return NULL;
}

static int write_profile(MPI_Comm self, int key, void *nothing, void *extra)
{
    rustcoll_write_profile(MPI_COMM_WORLD, ompi_comm_rank(MPI_COMM_WORLD), ompi_comm_size(MPI_COMM_WORLD));
    return MPI_SUCCESS;
}

/* Has MPI_Finalize write the profile. It first deletes the attributes of MPI_COMM_SELF, the last one first: then messages can still be
 * sent, and the user's own delete functions, which may call collectives, have run. MPI's public functions may not be called yet. */
static int arrange_profile(void)
{
    const ompi_attribute_fn_ptr_union_t copy = {.attr_communicator_copy_fn = rustcoll_copy_no_attribute};
    const ompi_attribute_fn_ptr_union_t delete = {.attr_communicator_delete_fn = write_profile};
    ompi_communicator_t *self = MPI_COMM_SELF;
    int key;
    int error = ompi_attr_create_keyval(COMM_ATTR, copy, delete, &key, NULL, 0, NULL);
    return MPI_SUCCESS == error ? ompi_attr_set_c(COMM_ATTR, self, &self->c_keyhash, key, NULL, false) : error;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *communicator, int *priority)
{
    const int has_profile =
        MPI_COMM_WORLD == communicator && rustcoll_begin_profile(ompi_comm_rank(communicator), ompi_comm_size(communicator));
    if (has_profile && MPI_SUCCESS != arrange_profile()) {
        rustcoll_shim_abort(communicator, "MPI has no memory for the profile");
    }
    rustcoll_tell_faults(communicator);
    *priority = priority_on(preference_of(communicator));
    if (has_profile || 0 <= *priority) {
        /* When MPI ends, a rank with a profile waits for the profiles of the other ranks. So all ranks must have one. */
        rustcoll_agree(communicator);
        if (is_any_parameter_wrong()) {
            give_up_over_parameter(0 == ompi_comm_rank(communicator));
        }
    }
    if (0 > *priority) {
        return NULL;
    }
    rustcoll_module *module = rustcoll_module_new(OMPI_COMM_IS_INTER(communicator));
    return NULL == module ? NULL : &module->super;
}
