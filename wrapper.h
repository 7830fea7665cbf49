/* The C that Rust sees: bindgen makes src/mpi/shim/bindings.rs of this header. It includes no header of an MPI, so one library serves all of
 * them. */
#include "src/mpi/shim.h"
