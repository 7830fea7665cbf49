/* MPI starts and ends twice in one process. Each report must contain only the calls of its own time. */

#include <mpi.h>
#include <stdio.h>

static void calls(int number)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm world;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
    for (int i = 0; i < number; i++) {
        int sum = 0, one = 1, size;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
        MPI_Comm_size(world, &size);
        if (sum != size) {
            printf("wrong: %d of %d\n", sum, size);
        }
    }
    MPI_Comm_free(&world);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(void)
{
    calls(7);
    calls(5);
    return 0;
}
