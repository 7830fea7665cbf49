/* Inter-communicators. To make the state of one takes messages between all its ranks, for which a non-blocking
 * collective must not wait. So if such collectives are served, the state is made together with the communicator. */

#include "interpose.h"

static int made(MPI_Comm *communicator, int error)
{
    int is_inter = 0;
    if (MPI_SUCCESS == error && MPI_COMM_NULL != *communicator && rustcoll_is_active() && rustcoll_serves_nonblocking()) {
        PMPI_Comm_test_inter(*communicator, &is_inter);
    }
    if (is_inter) {
        rustcoll_state *state;
        rustcoll_find_state(*communicator, 1, &state);
    }
    return error;
}

int MPI_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm *new)
{
    return made(new, PMPI_Intercomm_create(local, local_leader, peer, remote_leader, tag, new));
}

int MPI_Comm_dup(MPI_Comm communicator, MPI_Comm *new) { return made(new, PMPI_Comm_dup(communicator, new)); }

int MPI_Comm_dup_with_info(MPI_Comm communicator, MPI_Info info, MPI_Comm *new)
{
    return made(new, PMPI_Comm_dup_with_info(communicator, info, new));
}

int MPI_Comm_create(MPI_Comm communicator, MPI_Group group, MPI_Comm *new)
{
    return made(new, PMPI_Comm_create(communicator, group, new));
}

int MPI_Comm_split(MPI_Comm communicator, int color, int key, MPI_Comm *new)
{
    return made(new, PMPI_Comm_split(communicator, color, key, new));
}
