/* Lets ranks of one host pretend to be on several hosts: it replaces the library functions that the component
 * asks. While ranks_on_node is 0, as when Open MPI starts, all ranks are on one host. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

int ranks_on_node;
/* The ranks on the first host, if it has more than the others. */
static int ranks_on_first_node;
/* Whether all hosts have the same name. */
static int have_one_name;

static int node_of(int rank)
{
    if (0 == ranks_on_node || rank < ranks_on_first_node) {
        return 0;
    }
    return (rank - ranks_on_first_node) / ranks_on_node + (0 < ranks_on_first_node);
}

static int own_node(void)
{
    int rank = 0;
    if (0 != ranks_on_node) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    return node_of(rank);
}

/* Replaces the C library's function. */
int gethostname(char *name, size_t length)
{
    return 0 > snprintf(name, length, "node%d", have_one_name ? 0 : own_node()) ? -1 : 0;
}

/* Replaces Open MPI's function. Its groups are MPI_Group handles. */
bool ompi_group_have_remote_peers(MPI_Group group)
{
    MPI_Group world;
    int size, in_world, have = 0;
    if (0 == ranks_on_node) {
        return false;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &size);
    for (int rank = 0; rank < size; rank++) {
        MPI_Group_translate_ranks(group, 1, &rank, world, &in_world);
        have = have || node_of(in_world) != own_node();
    }
    MPI_Group_free(&world);
    return have;
}
