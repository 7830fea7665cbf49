/* Threads that call collectives at the same time for some seconds, in all forms, each thread on its own communicator. */

#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, LONGEST = 5000 };

typedef struct thread {
    pthread_t id;
    MPI_Comm communicator;
    int seconds, rank, size;
    long rounds, wrong;
    int *sent, *received;
} thread;

/* Encodes rank, place and round. */
static int value(int rank, int place, long round) { return (int) (1000 * rank + 7 * place + round % 1000); }

static void fill(thread *own, int length)
{
    for (int i = 0; i < length; i++) {
        own->sent[i] = value(own->rank, i, own->rounds);
    }
}

static void check_sum(thread *own, int length)
{
    for (int i = 0; i < length; i++) {
        int sum = 0;
        for (int rank = 0; rank < own->size; rank++) {
            sum += value(rank, i, own->rounds);
        }
        own->wrong += sum != own->received[i];
    }
}

/* Checks what each rank gathered. A sender's block begins at place 0, or at the receiver's place in an exchange. */
static void check_blocks(thread *own, int length, int is_exchanged)
{
    for (int rank = 0; rank < own->size; rank++) {
        for (int i = 0; i < length; i++) {
            const int place = is_exchanged ? own->rank * length + i : i;
            own->wrong += value(rank, place, own->rounds) != own->received[rank * length + i];
        }
    }
}

static void check_root(thread *own, int length, int root)
{
    for (int i = 0; i < length; i++) {
        own->wrong += value(root, i, own->rounds) != own->sent[i];
    }
}

static void blocking(thread *own, int length, int root)
{
    MPI_Allreduce(own->sent, own->received, length, MPI_INT, MPI_SUM, own->communicator);
    check_sum(own, length);
    MPI_Allgather(own->sent, length, MPI_INT, own->received, length, MPI_INT, own->communicator);
    check_blocks(own, length, 0);
    MPI_Alltoall(own->sent, length, MPI_INT, own->received, length, MPI_INT, own->communicator);
    check_blocks(own, length, 1);
    MPI_Barrier(own->communicator);
    MPI_Bcast(own->sent, length, MPI_INT, root, own->communicator);
    check_root(own, length, root);
}

static void with_request(thread *own, int length, int root)
{
    MPI_Request request;
    MPI_Iallreduce(own->sent, own->received, length, MPI_INT, MPI_SUM, own->communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(own, length);
    MPI_Ialltoall(own->sent, length, MPI_INT, own->received, length, MPI_INT, own->communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_blocks(own, length, 1);
    MPI_Ibcast(own->sent, length, MPI_INT, root, own->communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_root(own, length, root);
}

static void persistent(thread *own, int length)
{
    MPI_Request request;
    MPIX_Allreduce_init(own->sent, own->received, length, MPI_INT, MPI_SUM, own->communicator, MPI_INFO_NULL, &request);
    for (int start = 0; start < 3; start++) {
        own->received[0] = -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_sum(own, length);
    }
    MPI_Request_free(&request);
}

static void *run(void *argument)
{
    thread *own = argument;
    const time_t end = time(NULL) + own->seconds;
    for (int goes_on = 1; goes_on; own->rounds++) {
        const int length = own->rounds % 3 ? 1 + (int) (own->rounds * 37 % 60) : 1 + (int) (own->rounds * 811 % LONGEST);
        const int root = (int) (own->rounds % own->size);
        /* A broadcast overwrites the values with the root's. */
        fill(own, own->size * length);
        blocking(own, length, root);
        fill(own, own->size * length);
        with_request(own, length, root);
        fill(own, own->size * length);
        persistent(own, length);
        goes_on = time(NULL) < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, own->communicator);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    thread threads[THREADS];
    int provided, rank;
    long wrong = 0, all_wrong, rounds = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (MPI_THREAD_MULTIPLE != provided) {
        printf("MPI serves no threads\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < THREADS; i++) {
        thread *one = &threads[i];
        *one = (thread) {.seconds = atoi(argv[1])};
        MPI_Comm_dup(MPI_COMM_WORLD, &one->communicator);
        MPI_Comm_rank(one->communicator, &one->rank);
        MPI_Comm_size(one->communicator, &one->size);
        one->sent = calloc((size_t) one->size * (LONGEST + 1), sizeof *one->sent);
        one->received = calloc((size_t) one->size * (LONGEST + 1), sizeof *one->received);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i].id, NULL, run, &threads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i].id, NULL);
        wrong += threads[i].wrong;
        rounds += threads[i].rounds;
        MPI_Comm_free(&threads[i].communicator);
        free(threads[i].sent);
        free(threads[i].received);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%ld rounds, %ld wrong\n", rounds, all_wrong);
    }
    MPI_Finalize();
    return 0 != all_wrong;
}
