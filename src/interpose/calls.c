/* Calls of a communicator's own collectives. They come back through the functions that this library intercepts. */

#include "interpose.h"

#define COMMUNICATOR MPI_Comm
#define CALL(name, Name, ...) MPI_##Name(__VA_ARGS__, communicator)
#define DATATYPE(side) RUSTCOLL_DATATYPE((side)->datatype)
#define COUNTS_OF(side) (side)->counts
#define DISPLACEMENTS_OF(side) (side)->displacements
#define OPERATOR(handle) RUSTCOLL_OPERATOR(handle)
#include "own_calls.h"

int rustcoll_shim_call(const void *handle, const rustcoll_own_call *call)
{
    return rustcoll_neutral(call_collective(((const rustcoll_state *) handle)->communicator, call));
}
