/* A user's program whose allreduces have different numbers of bytes, so that the component's log tells them
 * apart. Arguments are info keys, KEY=VALUE, for communicators that it creates. If RANKS_ON_NODE is set, the
 * program pretends that so many ranks share a node. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pretended_nodes.h"
#include "verdict.h"

static int rank, wrong;

static void add(void *source, void *target, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        ((int *) target)[i] += ((int *) source)[i];
    }
}

static void reduce(int bytes, MPI_Comm communicator, MPI_Op operator_, int is_blocking)
{
    int count = bytes / (int) sizeof(int), size;
    int source[64], target[64];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_size(communicator, &size);
    for (int i = 0; i < count; i++) {
        source[i] = i;
        target[i] = -1;
    }
    if (is_blocking) {
        MPI_Allreduce(source, target, count, MPI_INT, operator_, communicator);
    } else {
        MPI_Iallreduce(source, target, count, MPI_INT, operator_, communicator, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        wrong += target[i] != i * size;
    }
}

static MPI_Info info_of(int number, char **keys)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < number; i++) {
        char *equals = strchr(keys[i], '=');
        *equals = '\0';
        MPI_Info_set(info, keys[i], equals + 1);
    }
    return info;
}

int main(int argc, char **argv)
{
    MPI_Comm with_info, copy, later, shared;
    MPI_Request request;
    MPI_Op own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *ranks = getenv("RANKS_ON_NODE");
    ranks_on_node = NULL == ranks ? 0 : atoi(ranks);
    MPI_Op_create(add, 1, &own);

    reduce(40, MPI_COMM_WORLD, MPI_SUM, 0);
    reduce(8, MPI_COMM_WORLD, MPI_SUM, 1);
    reduce(8, MPI_COMM_WORLD, MPI_SUM, 1);
    reduce(12, MPI_COMM_WORLD, own, 1);
    reduce(44, MPI_COMM_WORLD, MPI_SUM, 0);

    MPI_Info info = info_of(argc - 1, argv + 1);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with_info);
    reduce(20, with_info, MPI_SUM, 1);
    MPI_Comm_dup(with_info, &copy);
    reduce(24, copy, MPI_SUM, 1);
    MPI_Comm_idup(with_info, &later, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    reduce(28, later, MPI_SUM, 1);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &shared);
    reduce(32, shared, MPI_SUM, 1);
    MPI_Comm_set_info(copy, info);
    reduce(36, copy, MPI_SUM, 1);

    MPI_Comm_free(&with_info);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&later);
    MPI_Comm_free(&shared);
    MPI_Info_free(&info);
    MPI_Op_free(&own);
    return verdict(wrong);
}
