/* Calls of a communicator's own collectives, through its slots. */

#include "component.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

#define COMMUNICATOR ompi_communicator_t *
#define CALL(name, Name, ...)                                                                                \
    communicator->c_coll->coll_##name(__VA_ARGS__, communicator, communicator->c_coll->coll_##name##_module)
#define DATATYPE(side) ((ompi_datatype_t *) (side)->datatype)
#define COUNTS_OF(side) RUSTCOLL_COUNTS((side)->counts)
#define DISPLACEMENTS_OF(side) RUSTCOLL_DISPLACEMENTS((side)->displacements)
#define OPERATOR(handle) ((ompi_op_t *) (handle))
#include "own_calls.h"

int rustcoll_shim_call(const void *communicator, const rustcoll_own_call *call)
{
    return rustcoll_neutral(call_collective((ompi_communicator_t *) communicator, call));
}
