/* The C declarations that Rust uses. bindgen turns them into the bindings that src/mpi/shim/bindings.rs includes. This
 * header includes no header of an MPI, so one Rust library serves all of them. */
#include "src/mpi/shim.h"
