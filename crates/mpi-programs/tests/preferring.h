/* For programs of which only one communicator uses the component. */
#include <mpi.h>

/* Returns a communicator of the same ranks that prefers the component. */
static MPI_Comm preferring(MPI_Comm ranks)
{
    MPI_Info info;
    MPI_Comm duplicate;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", "rustcoll");
    MPI_Comm_dup_with_info(ranks, info, &duplicate);
    MPI_Info_free(&info);
    return duplicate;
}
