/* For user programs that force one algorithm after another by the tool interface. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* The component's variable that forces the algorithm of a collective, and the names of its values. */
typedef struct algorithms {
    MPI_T_cvar_handle handle;
    MPI_T_enum names;
    int number;
} algorithms;

/* Finds the algorithms of a collective. Returns 0 without the component. */
static int find_algorithms(algorithms *found, const char *collective)
{
    char name[100];
    int index, threads, verbosity, bind, scope, length = sizeof name;
    MPI_Datatype type;
    snprintf(name, sizeof name, "coll_rustcoll_%s_algorithm", collective);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &threads);
    if (MPI_SUCCESS != MPI_T_cvar_get_index(name, &index)) {
        MPI_T_finalize();
        return 0;
    }
    MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &found->names, NULL, NULL, &bind, &scope);
    MPI_T_cvar_handle_alloc(index, NULL, &found->handle, &found->number);
    length = sizeof name;
    MPI_T_enum_get_info(found->names, &found->number, name, &length);
    return 1;
}

/* Forces the algorithm with this index, and returns its name. One of the names is "auto", which leaves the choice to rules. */
static const char *force(const algorithms *of_collective, int index)
{
    static char name[100];
    int value, length = sizeof name;
    MPI_T_enum_get_item(of_collective->names, index, &value, name, &length);
    MPI_T_cvar_write(of_collective->handle, &value);
    return name;
}

/* Forces no algorithm any more. */
static void release(algorithms *forced)
{
    int automatic = 0;
    MPI_T_cvar_write(forced->handle, &automatic);
    MPI_T_cvar_handle_free(&forced->handle);
    MPI_T_finalize();
}
