/* Registration of the parameters that Rust derives from its registry of algorithms. */

#include "component.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/base/mca_base_var_enum.h"
#include "opal/mca/installdirs/installdirs.h"
#include "opal/util/opal_environ.h"

static int priority_parameter, verbose_parameter;
static int priority_index = -1;
static char *refused, *refused_legal;

/* An enumerator of one word and all numbers from a minimum up, so that Open MPI itself refuses every other value,
 * at start-up as well as through MPI_T. */
typedef struct number_enumerator {
    mca_base_var_enum_t super;
    int minimum;
} number_enumerator;
static OBJ_CLASS_INSTANCE(number_enumerator, mca_base_var_enum_t, NULL, NULL);

static int number_from_string(mca_base_var_enum_t *self, const char *text, int *value)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (0 == strcmp(text, self->enum_values[0].string)) {
        *value = self->enum_values[0].value;
        return OPAL_SUCCESS;
    }
    if (end == text || '\0' != *end || number < ((number_enumerator *) self)->minimum || number > INT_MAX) {
        return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
    }
    *value = (int) number;
    return OPAL_SUCCESS;
}

static int string_from_number(mca_base_var_enum_t *self, const int value, char **text)
{
    int is_word = value == self->enum_values[0].value;
    if (!is_word && value < ((number_enumerator *) self)->minimum) {
        return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
    }
    if (NULL == text) {
        return OPAL_SUCCESS;
    }
    int length = is_word ? asprintf(text, "%s", self->enum_values[0].string) : asprintf(text, "%d", value);
    return 0 > length ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

static int dump_numbers(RUSTCOLL_DUMP_PARAMETERS)
{
    int length = asprintf(text, "\"%s\", or a number from %d up", self->enum_values[0].string,
                          ((number_enumerator *) self)->minimum);
    return 0 > length ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

static mca_base_var_enum_t *new_number_enumerator(const char *name, const char *word, int word_value, int minimum)
{
    number_enumerator *numbers = OBJ_NEW(number_enumerator);
    numbers->minimum = minimum;
    numbers->super.enum_name = strdup(name);
    numbers->super.enum_values = calloc(2, sizeof *numbers->super.enum_values);
    numbers->super.enum_values[0] = (mca_base_var_enum_value_t) {word_value, strdup(word)};
    numbers->super.enum_value_count = 1;
    numbers->super.value_from_string = number_from_string;
    numbers->super.string_from_value = string_from_number;
    numbers->super.dump = dump_numbers;
    return &numbers->super;
}

static mca_base_var_enum_t *new_word_enumerator(const char *name, const char *const *words)
{
    mca_base_var_enum_t *enumerator = NULL;
    int number = 0;
    while (NULL != words[number]) {
        number++;
    }
    mca_base_var_enum_value_t *values = calloc(number + 1, sizeof *values);
    for (int i = 0; i < number; i++) {
        values[i] = (mca_base_var_enum_value_t) {i, words[i]};
    }
    mca_base_var_enum_create(name, values, &enumerator);
    free(values);
    return enumerator;
}

/* Registers an integer; returns its index. */
static int register_integer(const mca_base_component_t *component, const char *name, const char *description,
                            mca_base_var_enum_t *enumerator, mca_base_var_flag_t flags, mca_base_var_info_lvl_t level,
                            mca_base_var_scope_t scope, int *value)
{
    int index = mca_base_component_var_register(component, name, description, MCA_BASE_VAR_TYPE_INT, enumerator, 0,
                                                flags, level, scope, value);
    if (0 > index && NULL == refused) {
        if (0 > asprintf(&refused, "coll_%s_%s", component->mca_component_name, name)) {
            refused = NULL;
        }
        rustcoll_dump(enumerator, &refused_legal);
    }
    return index;
}

/* Registers a variable without a description: ompi_info 4.1 overruns its buffer if a variable has one and an enumerator. */
static void register_variable(const mca_base_component_t *component, const rustcoll_parameter *parameter)
{
    mca_base_var_enum_t *enumerator = new_word_enumerator(parameter->variable, parameter->variable_words);
    mca_base_component_pvar_register(component, parameter->variable, NULL, OPAL_INFO_LVL_5, MCA_BASE_PVAR_CLASS_STATE,
                                     MCA_BASE_VAR_TYPE_INT, enumerator, MPI_T_BIND_NO_OBJECT,
                                     MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL,
                                     parameter->variable_value);
    OBJ_RELEASE(enumerator);
}

/* Registers a text. Open MPI cannot check what it means, so it cannot be changed later. */
static void register_text(const mca_base_component_t *component, const rustcoll_parameter *parameter)
{
    mca_base_component_var_register(component, parameter->name, parameter->description, MCA_BASE_VAR_TYPE_STRING, NULL,
                                    0, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY, parameter->text);
}

static void register_number(const mca_base_component_t *component, const rustcoll_parameter *parameter)
{
    mca_base_var_enum_t *enumerator =
        0 < parameter->minimum
            ? new_number_enumerator(parameter->name, parameter->words[0], 0, parameter->minimum)
            : new_word_enumerator(parameter->name, parameter->words);
    register_integer(component, parameter->name, parameter->description, enumerator,
                     parameter->is_fixed ? 0 : MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
                     parameter->is_fixed ? MCA_BASE_VAR_SCOPE_READONLY : MCA_BASE_VAR_SCOPE_ALL, parameter->value);
    OBJ_RELEASE(enumerator);
    if (NULL != parameter->variable) {
        register_variable(component, parameter);
    }
}

void rustcoll_register_parameters(const mca_base_component_t *component)
{
    rustcoll_parameter parameter;
    mca_base_var_enum_t *priorities = new_number_enumerator("priority", "off", -1, 0);
    priority_parameter = verbose_parameter = 0;
    priority_index = register_integer(
        component, "priority",
        "Priority of the rustcoll component. It stays away from every communicator unless this or a rule file sets "
        "it, or the component is named in the parameter coll or in the communicator's info key ompi_comm_coll_preference",
        priorities, 0, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY, &priority_parameter);
    OBJ_RELEASE(priorities);
    register_integer(component, "verbose",
                     "What is logged: 1, every new schedule of a communicator; 60, every call and who decided it; 80, "
                     "every post (coll_base_verbose raises it)",
                     &mca_base_var_enum_verbose, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY, &verbose_parameter);
    for (int i = 0; rustcoll_parameter_get(i, &parameter); i++) {
        if (NULL != parameter.text) {
            register_text(component, &parameter);
        } else {
            register_number(component, &parameter);
        }
    }
    rustcoll_register_counters(component);
}

int rustcoll_refused_parameter(const char **parameter, const char **legal)
{
    *parameter = refused;
    *legal = NULL == refused_legal ? "" : refused_legal;
    return NULL != refused;
}

int rustcoll_verbosity(void)
{
    int base = ompi_coll_base_framework.framework_verbose;
    return base > verbose_parameter ? base : verbose_parameter;
}

const char *rustcoll_text_of(const char *project, const char *framework, const char *component, const char *variable)
{
    const char *const *value = NULL;
    int index = mca_base_var_find(project, framework, component, variable);
    return 0 <= index && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL) && NULL != value ? *value
                                                                                                          : NULL;
}

/* From series 5.0 on, mpirun reads the user's and the system's file, and tells the processes so by these variables. */
static const char *files_of_launcher(void)
{
    static char files[4096];
    const int has_users = NULL != getenv("OPAL_USER_PARAMS_GIVEN"), has_systems = NULL != getenv("OPAL_SYS_PARAMS_GIVEN");
    files[0] = '\0';
    if (has_users) {
        snprintf(files, sizeof files, "%s/.openmpi/mca-params.conf,", opal_home_directory());
    }
    if (has_systems) {
        const size_t used = strlen(files);
        snprintf(files + used, sizeof files - used, "%s/openmpi-mca-params.conf", opal_install_dirs.sysconfdir);
    }
    return files;
}

const char *rustcoll_shim_parameter_files(int which)
{
    if (RUSTCOLL_IN_ENVIRONMENT == which) {
        return files_of_launcher();
    }
    const char *files = rustcoll_text_of("opal", "mca", "base", "param_files");
    if (NULL == files || 0 == strcmp(files, "none")) {
        return "";
    }
    if (RUSTCOLL_BEFORE_ENVIRONMENT == which) {
        files = rustcoll_text_of("opal", "mca", "base", "override_param_file");
    }
    return NULL == files ? "" : files;
}

/* Open MPI knows the priority only if it is registered: not with another release, nor with a refused value. */
int rustcoll_given_priority(int *priority)
{
    if (0 > priority_index) {
        const char *place, *text = rustcoll_given("coll_rustcoll_priority", &place);
        *priority = NULL != text && 0 == strcmp(text, "off") ? -1 : 0;
        return NULL != text;
    }
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;
    *priority = priority_parameter;
    return OPAL_SUCCESS == mca_base_var_get_value(priority_index, NULL, &source, NULL)
           && MCA_BASE_VAR_SOURCE_DEFAULT != source;
}
