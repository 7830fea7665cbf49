/* A tool that observes a program as profilers do: it wraps some of MPI's functions and calls the others' names, PMPI. */

#include <mpi.h>
#include <stdio.h>

static int allreduces;

int MPI_Init(int *argc, char ***argv) { return PMPI_Init(argc, argv); }

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op operator, MPI_Comm communicator)
{
    allreduces++;
    return PMPI_Allreduce(from, to, count, datatype, operator, communicator);
}

__attribute__((destructor)) static void tell(void) { fprintf(stderr, "the tool saw %d allreduces\n", allreduces); }
