/* Translates Rust's errors to MPI's. */
#ifndef RUSTCOLL_ERRORS_H
#define RUSTCOLL_ERRORS_H

#include "mpi.h"
#include "shim.h"

/* Returns MPI's code for an error of Rust's. Does not change errors of MPI's own. */
static inline int rustcoll_error_of_mpi(int error)
{
    switch (error) {
    case RUSTCOLL_ERR_COUNT:
        return MPI_ERR_COUNT;
    case RUSTCOLL_ERR_ROOT:
        return MPI_ERR_ROOT;
    case RUSTCOLL_ERR_TRUNCATE:
        return MPI_ERR_TRUNCATE;
    case RUSTCOLL_ERR_INTERN:
        return MPI_ERR_INTERN;
    case RUSTCOLL_ERR_NO_MEM:
        return MPI_ERR_NO_MEM;
    case RUSTCOLL_ERR_UNREAD:
        return MPI_ERR_OTHER;
    default:
        return error;
    }
}

#endif
