/* A user's program that makes inter-communicators in every way that MPI has, and uses them. It knows nothing
 * of the component. With an argument, the process is a spawned one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "verdict.h"

static int wrong;

static void expect(long got, long wanted)
{
    wrong += got != wanted;
}

static int rank_in(MPI_Comm communicator)
{
    int rank;
    MPI_Comm_rank(communicator, &rank);
    return rank;
}

static int size_of(MPI_Comm communicator)
{
    int size;
    MPI_Comm_size(communicator, &size);
    return size;
}

static int remote_size_of(MPI_Comm communicator)
{
    int size;
    MPI_Comm_remote_size(communicator, &size);
    return size;
}

/* The ranks' contributions. The two groups have different numbers. */
static long number(int is_first, int rank) { return (is_first ? 100 : 10000) + rank; }

static long sum(int is_first, int size)
{
    long total = 0;
    for (int rank = 0; rank < size; rank++) {
        total += number(is_first, rank);
    }
    return total;
}

/* Calls several collectives once, blocking and non-blocking. */
static void use(MPI_Comm inter, int is_first)
{
    const int rank = rank_in(inter), remote = remote_size_of(inter);
    long mine = number(is_first, rank), total = 0, *theirs = calloc((size_t) remote, sizeof *theirs);
    MPI_Barrier(inter);
    MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, inter);
    expect(total, sum(!is_first, remote));
    MPI_Allgather(&mine, 1, MPI_LONG, theirs, 1, MPI_LONG, inter);
    for (int i = 0; i < remote; i++) {
        expect(theirs[i], number(!is_first, i));
    }
    /* The last rank of the first group is the root. */
    const int is_root = is_first && rank == size_of(inter) - 1;
    const int root = is_root ? MPI_ROOT : is_first ? MPI_PROC_NULL : remote - 1;
    long told = is_root ? 7 : -1;
    MPI_Request requests[4];
    total = -1;
    long all = -1;
    MPI_Ibcast(&told, 1, MPI_LONG, root, inter, &requests[0]);
    MPI_Ireduce(&mine, &total, 1, MPI_LONG, MPI_SUM, root, inter, &requests[1]);
    MPI_Iallreduce(&mine, &all, 1, MPI_LONG, MPI_MAX, inter, &requests[2]);
    MPI_Ibarrier(inter, &requests[3]);
    /* For this, Open MPI runs collectives on the local groups while the requests are in flight. */
    MPI_Comm duplicate;
    MPI_Comm_dup(inter, &duplicate);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&duplicate);
    expect(told, is_first && !is_root ? -1 : 7);
    expect(total, is_root ? sum(0, remote) : -1);
    expect(all, number(!is_first, remote - 1));
    free(theirs);
}

static void duplicate_later(MPI_Comm inter, int is_first)
{
    MPI_Comm duplicate;
    MPI_Request request;
    MPI_Comm_idup(inter, &duplicate, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(duplicate, is_first);
    MPI_Comm_free(&duplicate);
}

/* The request outlives its communicator. */
static void free_early(MPI_Comm inter, int is_first)
{
    const int rank = rank_in(inter), remote = remote_size_of(inter);
    long mine = number(is_first, rank), total = 0;
    MPI_Comm duplicate;
    MPI_Comm_dup(inter, &duplicate);
    MPI_Request request;
    MPI_Iallreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, duplicate, &request);
    MPI_Comm_free(&duplicate);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(total, sum(!is_first, remote));
}

static void merge(MPI_Comm inter, int is_first)
{
    MPI_Comm all;
    MPI_Intercomm_merge(inter, !is_first, &all);
    expect(size_of(all), size_of(inter) + remote_size_of(inter));
    expect(rank_in(all), rank_in(inter) + (is_first ? 0 : remote_size_of(inter)));
    long mine = 1, total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, all);
    expect(total, size_of(all));
    MPI_Comm_free(&all);
}

/* Ranks of both groups with equal parity stay together. */
static void split(MPI_Comm inter, int is_first)
{
    MPI_Comm half;
    const int color = rank_in(inter) % 2;
    MPI_Comm_split(inter, color, 0, &half);
    const int remote = (remote_size_of(inter) + 1 - color) / 2;
    expect(MPI_COMM_NULL == half, 0 == remote);
    if (MPI_COMM_NULL != half) {
        expect(remote_size_of(half), remote);
        long mine = number(is_first, rank_in(inter)), total = 0, wanted = 0;
        for (int i = 0; i < remote; i++) {
            wanted += number(!is_first, 2 * i + color);
        }
        MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, half);
        expect(total, wanted);
        MPI_Comm_free(&half);
    }
}

/* Tests all ranks of the world, of which the first group has `first_size`. */
static void test_groups(int first_size)
{
    const int rank = rank_in(MPI_COMM_WORLD), is_first = rank < first_size;
    MPI_Comm group, inter;
    MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, is_first ? first_size : 0, 1, &inter);
    use(inter, is_first);
    duplicate_later(inter, is_first);
    free_early(inter, is_first);
    merge(inter, is_first);
    split(inter, is_first);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
}

static void test_connection(void)
{
    const int rank = rank_in(MPI_COMM_WORLD), is_first = rank < 1;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm group, inter;
    MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &group);
    if (is_first) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (is_first) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, group, &inter);
    } else {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, group, &inter);
    }
    use(inter, is_first);
    MPI_Comm_disconnect(&inter);
    if (is_first) {
        MPI_Close_port(port);
    }
    MPI_Comm_free(&group);
}

static void test_spawn(char *program)
{
    char *arguments[] = {"spawned", NULL};
    MPI_Comm children;
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    use(children, 1);
    merge(children, 1);
    int theirs = -1;
    MPI_Reduce(NULL, &theirs, 1, MPI_INT, MPI_SUM, 0 == rank_in(MPI_COMM_WORLD) ? MPI_ROOT : MPI_PROC_NULL, children);
    wrong += 0 == rank_in(MPI_COMM_WORLD) ? theirs : 0;
    MPI_Comm_disconnect(&children);
}

static int be_spawned(void)
{
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    use(parents, 0);
    merge(parents, 0);
    MPI_Reduce(&wrong, NULL, 1, MPI_INT, MPI_SUM, 0, parents);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1) {
        return be_spawned();
    }
    for (int first_size = 1; first_size < size_of(MPI_COMM_WORLD); first_size++) {
        test_groups(first_size);
    }
    test_connection();
    test_spawn(argv[0]);
    return verdict(wrong);
}
