/* What bindgen turns into Rust: the shim's interface and the constants that Rust needs. */
#include "ompi_config.h"
#include "mpi.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "src/coll_component/shim.h"
