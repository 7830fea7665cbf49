/* The user's settings in the environment, and the beginning and the end of a process. */

#include "interpose.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A tag of messages of this process to itself; requests have those from RUSTCOLL_FIRST_REQUEST_TAG on. */
enum { NEVER_SENT = 0 };

static int is_disabled, is_alone, serves_nonblocking;
static MPI_Comm itself = MPI_COMM_NULL;
/* A receive from this process that no message ever ends. To ask for its status is the one way to let every MPI make progress: MPICH answers
 * a probe on a communicator of one process without. */
static MPI_Request never = MPI_REQUEST_NULL;
static int neighbours;

/* Returns the number in the first of these variables of launchers that is set; -1 if none is. */
static int told_by_launcher(const char *const variables[])
{
    for (size_t i = 0; NULL != variables[i]; i++) {
        const char *value = getenv(variables[i]);
        if (NULL != value) {
            return atoi(value);
        }
    }
    return -1;
}

static int number_on_node(void)
{
    static const char *const variables[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID",
                                            "SLURM_LOCALID", NULL};
    return told_by_launcher(variables);
}

static int ranks_on_node(void)
{
    static const char *const variables[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
                                            "SLURM_NTASKS_PER_NODE", NULL};
    return told_by_launcher(variables);
}

int rustcoll_may_be_first_on_node(void) { return 0 >= number_on_node(); }

static int world_rank(void)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int is_first_on_node(void)
{
    const int number = number_on_node();
    return 0 <= number ? 0 == number : 0 == world_rank();
}

void rustcoll_end_job(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    /* Launchers lose what a process prints immediately before it ends the job. */
    sleep(1);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* Called before the end of a job that cannot run as the user asked. The first rank of each node reports the fault at
 * once. If the job has not ended soon after, the other ranks alone have the fault, so they report it as well. */
static void let_speak(int speaks_first)
{
    if (!speaks_first) {
        sleep(3);
    }
}

static void variable_of(const char *parameter, char *variable, size_t length)
{
    snprintf(variable, length, "RUSTCOLL_%s", parameter);
    for (char *letter = variable; '\0' != *letter; letter++) {
        *letter = (char) toupper((unsigned char) *letter);
    }
}

static int number_of(const rustcoll_parameter *parameter, const char *text, int *value)
{
    for (int i = 0; NULL != parameter->words[i]; i++) {
        if (0 == strcmp(text, parameter->words[i])) {
            *value = i;
            return 1;
        }
    }
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    *value = (int) number;
    return 0 < parameter->minimum && end != text && '\0' == *end && 0 == errno && number >= parameter->minimum
           && number <= INT_MAX;
}

static void refuse(const rustcoll_parameter *parameter, const char *variable, const char *text)
{
    char legal[4096] = "";
    for (int i = 0; NULL != parameter->words[i]; i++) {
        const size_t used = strlen(legal);
        snprintf(legal + used, sizeof legal - used, "%s%s", 0 == i ? "" : ", ", parameter->words[i]);
    }
    if (0 < parameter->minimum) {
        const size_t used = strlen(legal);
        snprintf(legal + used, sizeof legal - used, ", or a number from %d up", parameter->minimum);
    }
    const char *word = rustcoll_nearest_word(variable, text);
    let_speak(is_first_on_node());
    /* The value may be the name of an algorithm whose file has a fault. */
    if ('\0' != *rustcoll_faults()) {
        rustcoll_show_faults(world_rank());
    }
    if (NULL == word) {
        rustcoll_end_job("rustcoll: %s=%s: legal are %s", variable, text, legal);
    } else {
        rustcoll_end_job("rustcoll: %s=%s: the nearest known one is %s; legal are %s", variable, text, word, legal);
    }
}

static void read_parameters(void)
{
    rustcoll_parameter parameter;
    for (int i = 0; rustcoll_parameter_get(i, &parameter); i++) {
        char variable[256];
        variable_of(parameter.name, variable, sizeof variable);
        const char *text = getenv(variable);
        if (NULL == text) {
            continue;
        }
        if (NULL != parameter.text) {
            *parameter.text = strdup(text);
        } else if (!number_of(&parameter, text, parameter.value)) {
            refuse(&parameter, variable, text);
        }
    }
}

/* Whether a switch that only this library has is on. Its values are off and on, or 0 and 1. */
static int is_on(const char *variable)
{
    const char *text = getenv(variable);
    if (NULL == text || '\0' == *text || 0 == strcmp(text, "0") || 0 == strcmp(text, "off")) {
        return 0;
    }
    if (0 != strcmp(text, "1") && 0 != strcmp(text, "on")) {
        let_speak(is_first_on_node());
        rustcoll_end_job("rustcoll: %s=%s: legal are off, on, 0 and 1", variable, text);
    }
    return 1;
}

static int verbosity(void)
{
    const char *text = getenv("RUSTCOLL_VERBOSE");
    char *end;
    long number = NULL == text ? 0 : strtol(text, &end, 10);
    if (NULL != text && (end == text || '\0' != *end || 0 > number || 100 < number)) {
        let_speak(is_first_on_node());
        rustcoll_end_job("rustcoll: RUSTCOLL_VERBOSE=%s: legal are numbers from 0 to 100", text);
    }
    return (int) number;
}

static void refuse_unknown(void)
{
    const char *nearest, *place, *unknown = rustcoll_unknown_parameter(&nearest, &place);
    if (NULL != unknown) {
        let_speak(is_first_on_node());
        rustcoll_end_job("rustcoll: there is no %s; the nearest known name is %s", unknown, nearest);
    }
}

/* Carries the messages that gather the profile, if the user wants one. */
static rustcoll_state of_profile = {.own = MPI_COMM_NULL};
static int has_profile;

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before all else, so this library's private communicators can be freed here. */
static int end(MPI_Comm communicator, int key, void *nothing, void *extra)
{
    if (MPI_COMM_NULL != of_profile.own) {
        rustcoll_write_profile(&of_profile, of_profile.group.rank, of_profile.group.size);
        PMPI_Comm_free(&of_profile.own);
    }
    rustcoll_finish();
    rustcoll_free_states();
    if (MPI_COMM_NULL != itself) {
        PMPI_Cancel(&never);
        PMPI_Wait(&never, MPI_STATUS_IGNORE);
        PMPI_Comm_free(&itself);
    }
    is_disabled = 1;
    return MPI_SUCCESS;
}

/* Unlike MPI_Comm_dup, MPI_Comm_create does not copy attributes. So no function of a tool runs that has set some in its own MPI_Init. */
static void create_itself(void)
{
    MPI_Group alone;
    PMPI_Comm_group(MPI_COMM_SELF, &alone);
    PMPI_Comm_create(MPI_COMM_SELF, alone, &itself);
    PMPI_Group_free(&alone);
    PMPI_Comm_set_errhandler(itself, MPI_ERRORS_RETURN);
    PMPI_Irecv(NULL, 0, MPI_BYTE, 0, NEVER_SENT, itself, &never);
}

static void begin(void)
{
    int key;
    is_disabled = is_on("RUSTCOLL_DISABLE");
    if (is_disabled) {
        return;
    }
    is_alone = is_on("RUSTCOLL_ALONE");
    serves_nonblocking = is_on("RUSTCOLL_NONBLOCKING");
    /* Must come first: a parameter names the files of algorithms, whose names are legal values of others. */
    read_parameters();
    refuse_unknown();
    rustcoll_note_neighbours(ranks_on_node());
    create_itself();
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, NULL);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    PMPI_Comm_free_keyval(&key);
    rustcoll_start(verbosity(), is_first_on_node(), world_rank(), 0);
    PMPI_Comm_rank(MPI_COMM_WORLD, &of_profile.group.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &of_profile.group.size);
    has_profile = rustcoll_begin_profile(of_profile.group.rank, of_profile.group.size);
}

int rustcoll_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    return !is_disabled;
}

int rustcoll_is_active(void)
{
    int is_initialized = 0;
    PMPI_Initialized(&is_initialized);
    return is_initialized && rustcoll_begin();
}

int rustcoll_is_alone(void) { return is_alone; }

/* This library reads its parameters from the environment alone. */
const char *rustcoll_shim_parameter_files(int which) { return ""; }

const char *rustcoll_shim_switches(void)
{
    static const char *const texts[] = {"", "alone=on", "nonblocking=on", "alone=on, nonblocking=on"};
    return texts[(is_alone ? 1 : 0) + (serves_nonblocking ? 2 : 0)];
}

/* MPI does not tell. */
int rustcoll_shim_goes_by_tcp(void) { return 0; }

int rustcoll_serves_nonblocking(void) { return serves_nonblocking; }

MPI_Comm rustcoll_itself(void) { return itself; }

void rustcoll_shim_progress(void)
{
    int is_complete;
    PMPI_Request_get_status(never, &is_complete, MPI_STATUS_IGNORE);
    rustcoll_go_on();
}

void rustcoll_note_neighbours(int ranks)
{
    if (ranks > neighbours) {
        neighbours = ranks;
    }
}

int rustcoll_shim_is_crowded(void)
{
    static long processors;
    if (0 == processors) {
        processors = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return neighbours > processors;
}

void rustcoll_shim_refuse_rules(const char *faults, int speaks_first)
{
    let_speak(speaks_first);
    rustcoll_end_job("rustcoll: rules or schedule files have faults, and RUSTCOLL_RULES_STRICT asks for the end of the job:\n%s", faults);
}

/* The library reports wrong settings at once, before ranks that differ can wait for each other. */
static int begun(int error)
{
    if (MPI_SUCCESS == error) {
        rustcoll_compare_job(rustcoll_begin());
        if (has_profile) {
            PMPI_Comm_dup(MPI_COMM_WORLD, &of_profile.own);
        }
    }
    return error;
}

int MPI_Init(int *argc, char ***argv)
{
    rustcoll_refuse_other_mpis();
    return begun(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    rustcoll_refuse_other_mpis();
    return begun(PMPI_Init_thread(argc, argv, required, provided));
}

/* MPICH's Fortran module mpi_f08 calls PMPI_Init itself, so its functions are intercepted. The originals are in the
 * library that follows this one. It calls PMPI_Wait and PMPI_Test too, which do not advance rustcoll's operations. */
static void begun_by_f08(int error)
{
    if (MPI_SUCCESS == begun(error) && rustcoll_begin() && serves_nonblocking) {
        rustcoll_end_job("rustcoll: RUSTCOLL_NONBLOCKING=on is not possible with Fortran's module mpi_f08; legal is off");
    }
}

void mpi_init_f08_(int *error);
void mpi_init_f08_(int *error)
{
    int own = MPI_SUCCESS;
    void (*next)(int *) = (void (*)(int *)) dlsym(RTLD_NEXT, "mpi_init_f08_");
    rustcoll_refuse_other_mpis();
    if (NULL == next) {
        own = PMPI_Init(NULL, NULL);
    } else {
        next(&own);
    }
    begun_by_f08(own);
    if (NULL != error) {
        *error = own;
    }
}

void mpi_init_thread_f08_(const int *required, int *provided, int *error);
void mpi_init_thread_f08_(const int *required, int *provided, int *error)
{
    int own = MPI_SUCCESS;
    void (*next)(const int *, int *, int *) =
        (void (*)(const int *, int *, int *)) dlsym(RTLD_NEXT, "mpi_init_thread_f08_");
    rustcoll_refuse_other_mpis();
    if (NULL == next) {
        own = PMPI_Init_thread(NULL, NULL, *required, provided);
    } else {
        next(required, provided, &own);
    }
    begun_by_f08(own);
    if (NULL != error) {
        *error = own;
    }
}

int *rustcoll_variable(const char *name)
{
    rustcoll_parameter parameter;
    for (int i = 0; rustcoll_parameter_get(i, &parameter); i++) {
        if (NULL == parameter.text && 0 == strcmp(name, parameter.name) && !parameter.is_fixed) {
            return parameter.value;
        }
        if (NULL != parameter.variable && 0 == strcmp(name, parameter.variable)) {
            return parameter.variable_value;
        }
    }
    return NULL;
}
