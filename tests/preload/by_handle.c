/* A program that takes MPI's functions from a library by a handle, as other languages do: by_handle LIBRARY. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_LAZY);
    if (NULL == library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*init)(int *, char ***) = dlsym(library, "MPI_Init");
    int (*barrier)(MPI_Comm) = dlsym(library, "MPI_Barrier");
    int (*finalize)(void) = dlsym(library, "MPI_Finalize");
    /* rustcoll has no such function of its own; MPI's library, which comes with it, has. */
    int (*version)(int *, int *) = dlsym(library, "MPI_Get_version");
    int major, minor;
    init(&argc, &argv);
    version(&major, &minor);
    barrier(MPI_COMM_WORLD);
    finalize();
    return 0;
}
