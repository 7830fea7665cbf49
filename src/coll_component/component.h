/* What the component's C files share. */
#ifndef RUSTCOLL_COMPONENT_H
#define RUSTCOLL_COMPONENT_H

#include "series.h"

#include "ompi/mca/coll/base/base.h"
#include "ompi/request/request.h"

/* A library that includes this component exports nothing that follows, however it is compiled. */
#pragma GCC visibility push(hidden)

#include "description.h"
#include "errors.h"
#include "shim.h"

/* A communicator's module: the functions that were in its slots before (those below), and Rust's state. */
typedef struct rustcoll_module {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t below;
    int has_saved;
    rustcoll_group group;
    /* How many persistent collectives were made when the first tags had been used; the same at all ranks. */
    unsigned late_persistent;
    void *state;
} rustcoll_module;

rustcoll_module *rustcoll_module_new(int is_inter);
/* Enters this component's functions into a module's slots. */
void rustcoll_fill_slots(mca_coll_base_module_t *module, int is_inter);

/* Makes the request of a non-blocking or persistent collective, and starts it unless it is persistent. Returns an
 * error, or RUSTCOLL_BELOW; there is no request then. */
int rustcoll_request_new(rustcoll_module *module, const rustcoll_call *call, int is_persistent,
                         struct ompi_communicator_t *communicator, ompi_request_t **request);
/* Frees the requests that are not in use. */
void rustcoll_free_requests(void);
/* Stops Open MPI's calls of rustcoll_progress, which began with the first request. */
void rustcoll_stop_progress(void);

/* Registers the parameters with Open MPI. Remembers a value that Open MPI refuses, because the job must not start with it. */
void rustcoll_register_parameters(const mca_base_component_t *component);
/* Registers the performance variables that count calls. */
void rustcoll_register_counters(const mca_base_component_t *component);
/* Whether Open MPI refused a value; also the full name of its parameter and the legal values. */
int rustcoll_refused_parameter(const char **parameter, const char **legal);
int rustcoll_verbosity(void);
/* Whether the user gives a priority, and which. A text that is no priority counts as 0. */
int rustcoll_given_priority(int *priority);
/* Returns the value of a text among Open MPI's own parameters, or NULL. */
const char *rustcoll_text_of(const char *project, const char *framework, const char *component, const char *variable);

/* Translates an error of Open MPI's for Rust. */
static inline int rustcoll_neutral(int error) { return MPI_ERR_TRUNCATE == error ? RUSTCOLL_ERR_TRUNCATE : error; }

/* Shows a message of the help file. */
void rustcoll_show(const char *topic, ...);

/* Publishes what must be equal on all processes, as this one has it. Others see it after MPI_Init has exchanged such data. `wrong`: the name
 * of a parameter that is given wrongly, or NULL. */
void rustcoll_publish(int priority, const char *wrong);
/* Publishes that this process stays away. Whether it has TCP alone, it tells all the same: the job's first process answers for all. */
void rustcoll_publish_absence(void);
/* Shows the faults of rules and schedule files that are left out. */
void rustcoll_show_faults(void);
/* Shows these faults at the first communicator, once for all ranks with the same faults. */
void rustcoll_tell_faults(struct ompi_communicator_t *communicator);
/* Ends the job if processes of a new communicator differ in what must be equal. */
void rustcoll_agree(struct ompi_communicator_t *communicator);

/* The stream that log lines go to. */
void rustcoll_open_output(void);
void rustcoll_close_output(void);

#pragma GCC visibility pop

#endif
