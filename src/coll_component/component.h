/* What the shim's own C files share. */
#ifndef RUSTCOLL_COMPONENT_H
#define RUSTCOLL_COMPONENT_H

#include "series.h"

#include "ompi/mca/coll/base/base.h"
#include "ompi/request/request.h"

/* From here on nothing is exported by a library that this becomes a part of, however it is compiled. */
#pragma GCC visibility push(hidden)

#include "description.h"
#include "errors.h"
#include "shim.h"

/* A communicator's module: what was below it, and Rust's state. */
typedef struct rustcoll_module {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t below;
    int has_saved;
    rustcoll_group group;
    void *state;
} rustcoll_module;

/* Makes the module of a communicator. */
rustcoll_module *rustcoll_module_new(int is_inter);
/* Enters this component's functions into a module's slots. */
void rustcoll_fill_slots(mca_coll_base_module_t *module, int is_inter);

/* Makes the request of a collective that does not block, and starts it unless it is persistent. An error code, or
 * RUSTCOLL_BELOW; then there is no request. */
int rustcoll_request_new(const rustcoll_module *module, const rustcoll_call *call, int is_persistent,
                         struct ompi_communicator_t *communicator, ompi_request_t **request);
/* Ends the calls of rustcoll_progress that the first request began. */
void rustcoll_stop_progress(void);

/* Registers the parameters with Open MPI. A value that it refuses is remembered: the job must not start with it. */
void rustcoll_register_parameters(const mca_base_component_t *component);
/* Registers the performance variables that count calls. */
void rustcoll_register_counters(const mca_base_component_t *component);
/* Whether a value was refused, its parameter's full name and the legal values. */
int rustcoll_refused_parameter(const char **parameter, const char **legal);
int rustcoll_verbosity(void);
/* Whether the user gives a priority, and which; what is none counts as 0. */
int rustcoll_given_priority(int *priority);
/* The value of a text among Open MPI's own parameters, or NULL. */
const char *rustcoll_text_of(const char *project, const char *framework, const char *component, const char *variable);

/* An error of Open MPI's, as Rust knows it. */
static inline int rustcoll_neutral(int error) { return MPI_ERR_TRUNCATE == error ? RUSTCOLL_ERR_TRUNCATE : error; }

/* Shows a message of the help file. */
void rustcoll_show(const char *topic, ...);

/* Tells other processes what this one holds that must be alike; they see it from MPI_Init's exchange of such data on. */
void rustcoll_publish(int priority);
/* Tells what is wrong with rules and schedule files that are left out. */
void rustcoll_show_faults(void);
/* The same at the first communicator, once for all ranks that have the same faults. */
void rustcoll_tell_faults(struct ompi_communicator_t *communicator);
/* Ends the job if a process of a new communicator holds something else. */
void rustcoll_agree(struct ompi_communicator_t *communicator);

/* The stream that log lines go to. */
void rustcoll_open_output(void);
void rustcoll_close_output(void);

#pragma GCC visibility pop

#endif
