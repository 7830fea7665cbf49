/* A library for programs in other languages. A job loads it before Open MPI, and the program then sets ranks_on_node. */
#include "pretended_nodes.h"
