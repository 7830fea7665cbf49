/* Operations go on in a call of one thread that waited before another thread began them; and threads on communicators of their own do not disturb
 * each other's first operations. */

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 20, THREADS = 4, PATIENCE = 60 };

static int rank, size, wrongs[THREADS];
static MPI_Comm of_thread[THREADS][ROUNDS];

static void *receive(void *message)
{
    MPI_Recv(message, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Rank 0 waits for a message in a thread, and for that thread before it waits for the operation. Returns what is wrong. */
static int while_another_thread_waits(void)
{
    int sum = 0, message = 7;
    pthread_t thread;
    MPI_Request request;
    MPI_Comm communicator;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    if (0 == rank) {
        message = 0;
        pthread_create(&thread, NULL, receive, &message);
    }
    /* Rank 0 begins when its thread waits, and ends its part of the beginning before the others take part in it. */
    usleep(0 == rank ? 20000 : 100000);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, communicator, &request);
    if (0 == rank) {
        pthread_join(thread, NULL);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (1 == rank) {
        MPI_Send(&message, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Comm_free(&communicator);
    return 7 != message || size * (size - 1) / 2 != sum;
}

static void *operate(void *number)
{
    const int thread = (int) (size_t) number;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 0, told = 0 == rank ? round : -1;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Iallreduce(&thread, &sum, 1, MPI_INT, MPI_SUM, of_thread[thread][round], &requests[0]);
        MPI_Ibcast(&told, 1, MPI_INT, 0, of_thread[thread][round], &requests[1]);
        MPI_Waitall(2, requests, statuses);
        wrongs[thread] += size * thread != sum || round != told;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, wrong, all_wrong;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_THREAD_MULTIPLE != provided) {
        printf("SKIPPED: this MPI does not let several threads call it\n");
        MPI_Finalize();
        return 0;
    }
    alarm(PATIENCE);
    wrong = while_another_thread_waits();
    for (int thread = 0; thread < THREADS; thread++) {
        for (int round = 0; round < ROUNDS; round++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[thread][round]);
        }
    }
    for (int thread = 0; thread < THREADS; thread++) {
        pthread_create(&threads[thread], NULL, operate, (void *) (size_t) thread);
    }
    for (int thread = 0; thread < THREADS; thread++) {
        pthread_join(threads[thread], NULL);
        wrong += wrongs[thread];
        for (int round = 0; round < ROUNDS; round++) {
            MPI_Comm_free(&of_thread[thread][round]);
        }
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf(0 == all_wrong ? "all results are right\n" : "%d results are wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0 != wrong;
}
