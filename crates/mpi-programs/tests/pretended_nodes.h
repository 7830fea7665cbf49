/* Lets ranks of one host pretend that they are on several: what the component asks is answered here, instead of by the
 * libraries. While ranks_on_node is 0, as when Open MPI starts up, all are on one. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

static int ranks_on_node;
/* Whether all hosts are called the same. */
static int have_one_name;

static int node_of(int rank)
{
    return 0 == ranks_on_node ? 0 : rank / ranks_on_node;
}

static int own_node(void)
{
    int rank = 0;
    if (0 != ranks_on_node) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    return node_of(rank);
}

/* Takes the place of the C library's. */
int gethostname(char *name, size_t length)
{
    return 0 > snprintf(name, length, "node%d", have_one_name ? 0 : own_node()) ? -1 : 0;
}

/* Takes the place of Open MPI's, whose groups are what MPI calls so. */
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
