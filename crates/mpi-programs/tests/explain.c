/* Makes the calls that the standard input lists on rank 0, each on the first so many ranks:
 * COLLECTIVE RANKS BYTES ROOT OPERATOR IN_PLACE
 * where operator 0 is MPI_SUM, 1 one of the user's that commutes, 2 one that does not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 16, MOST_BYTES = 1 << 17 };

static char source[MOST_RANKS * MOST_BYTES], target[MOST_RANKS * MOST_BYTES];

static void add(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        ((signed char *) right)[i] = (signed char) (((signed char *) right)[i] + ((signed char *) left)[i]);
    }
}

static int call(const char *name, int count, int root, MPI_Op operator_, int in_place, MPI_Comm communicator)
{
    MPI_Datatype type = MPI_SIGNED_CHAR;
    const void *own = in_place ? MPI_IN_PLACE : source;
    if (0 == strcmp(name, "allreduce")) {
        return MPI_Allreduce(own, target, count, type, operator_, communicator);
    } else if (0 == strcmp(name, "allgather")) {
        return MPI_Allgather(own, count, type, target, count, type, communicator);
    } else if (0 == strcmp(name, "alltoall")) {
        return MPI_Alltoall(own, count, type, target, count, type, communicator);
    } else if (0 == strcmp(name, "bcast")) {
        return MPI_Bcast(target, count, type, root, communicator);
    } else if (0 == strcmp(name, "gather")) {
        return MPI_Gather(source, count, type, target, count, type, root, communicator);
    } else if (0 == strcmp(name, "reduce")) {
        return MPI_Reduce(source, target, count, type, operator_, root, communicator);
    } else if (0 == strcmp(name, "reduce_scatter_block")) {
        return MPI_Reduce_scatter_block(source, target, count, type, operator_, communicator);
    } else if (0 == strcmp(name, "scan")) {
        return MPI_Scan(source, target, count, type, operator_, communicator);
    }
    fprintf(stderr, "unknown collective %s\n", name);
    return MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    struct { char name[32]; int ranks, bytes, root, operator_, in_place; } problem;
    MPI_Comm first[MOST_RANKS + 1];
    MPI_Op operators[3] = {MPI_SUM};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(add, 1, &operators[1]);
    MPI_Op_create(add, 0, &operators[2]);
    for (int size = 2; size < ranks; size++) {
        MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &first[size]);
    }
    for (;;) {
        problem.ranks = 0;
        if (0 == rank && 6 != scanf("%31s %d %d %d %d %d", problem.name, &problem.ranks, &problem.bytes, &problem.root,
                                    &problem.operator_, &problem.in_place)) {
            problem.ranks = 0;
        }
        MPI_Bcast(&problem, sizeof(problem), MPI_BYTE, 0, MPI_COMM_WORLD);
        if (0 == problem.ranks) {
            break;
        }
        if (rank < problem.ranks) {
            call(problem.name, problem.bytes, problem.root, operators[problem.operator_], problem.in_place,
                 first[problem.ranks]);
        }
    }
    MPI_Finalize();
    return 0;
}
