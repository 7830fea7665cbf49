/* What the shim's own C files share. */
#ifndef RUSTCOLL_COMPONENT_H
#define RUSTCOLL_COMPONENT_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"

#include "shim.h"

/* A communicator's module: what was below it, and Rust's state. */
typedef struct rustcoll_module {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t below;
    int has_saved;
    void *state;
} rustcoll_module;

/* Makes the module of a communicator. */
rustcoll_module *rustcoll_module_new(void);

/* Registers the parameters with Open MPI. A value that it refuses is remembered: the job must not start with it. */
void rustcoll_register_parameters(const mca_base_component_t *component);
/* Whether there was one, its full name and the legal values. */
int rustcoll_refused_parameter(const char **parameter, const char **legal);
int rustcoll_verbosity(void);
int rustcoll_given_priority(int *priority);

/* The stream that log lines go to. */
void rustcoll_open_output(void);

#endif
