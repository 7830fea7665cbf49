/* Errors of Rust's in terms of MPI. */
#ifndef RUSTCOLL_ERRORS_H
#define RUSTCOLL_ERRORS_H

#include "mpi.h"
#include "shim.h"

/* An error as MPI knows it; what is MPI's own stays. */
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
