/* MPI's blocking messages, with counts of 32 bits and, where MPI has them, of 64. */

#include "interpose.h"

#include <stdlib.h>

#define COUNT int
#define FORM(name) name
#include "point_to_point.h"

#if MPI_VERSION >= 4
#undef COUNT
#undef FORM
#define COUNT MPI_Count
#define FORM(name) name##_c
#include "point_to_point.h"
#endif
