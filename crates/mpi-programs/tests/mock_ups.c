/* Collectives that calls of other collectives may serve. Checks each result. Usage: mock_ups
   plain|nonblocking|alike|threads [LENGTH] */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 3, THREADS = 2 };

static int length = 100;

static void check(int is_right, const char *what)
{
    if (!is_right) {
        printf("%s is wrong\n", what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Each element encodes its rank and its repetition. */
static int value(int rank, int repetition, int element) { return 1000 * rank + 10 * repetition + element % 7; }

static void allgather(MPI_Comm communicator, int repetition, int is_nonblocking)
{
    int rank, size;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    int *own = malloc(sizeof(int) * length), *all = malloc(sizeof(int) * length * size);
    for (int element = 0; element < length; element++) {
        own[element] = value(rank, repetition, element);
    }
    if (is_nonblocking) {
        MPI_Request request;
        MPI_Iallgather(own, length, MPI_INT, all, length, MPI_INT, communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allgather(own, length, MPI_INT, all, length, MPI_INT, communicator);
    }
    for (int element = 0; element < length * size; element++) {
        check(all[element] == value(element / length, repetition, element % length), "allgather");
    }
    free(own);
    free(all);
}

static void gather(MPI_Comm communicator, int repetition)
{
    int rank, size, root = 1;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    int *own = malloc(sizeof(int) * length), *all = malloc(sizeof(int) * length * size);
    for (int element = 0; element < length; element++) {
        own[element] = value(rank, repetition, element);
    }
    MPI_Gather(own, length, MPI_INT, all, length, MPI_INT, root, communicator);
    for (int element = 0; rank == root && element < length * size; element++) {
        check(all[element] == value(element / length, repetition, element % length), "gather");
    }
    free(own);
    free(all);
}

static void allreduce(MPI_Comm communicator, int repetition)
{
    int rank, size;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    int *vector = malloc(sizeof(int) * length);
    for (int element = 0; element < length; element++) {
        vector[element] = value(rank, repetition, element);
    }
    MPI_Allreduce(MPI_IN_PLACE, vector, length, MPI_INT, MPI_SUM, communicator);
    for (int element = 0; element < length; element++) {
        int sum = 0;
        for (int other = 0; other < size; other++) {
            sum += value(other, repetition, element);
        }
        check(vector[element] == sum, "allreduce");
    }
    free(vector);
}

static void *all_of(void *communicator)
{
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        allgather(*(MPI_Comm *) communicator, repetition, 0);
        gather(*(MPI_Comm *) communicator, repetition);
        allreduce(*(MPI_Comm *) communicator, repetition);
    }
    return NULL;
}

/* Makes the same call on communicators that are alike. */
static void on_two_alike(void)
{
    for (int i = 0; i < 2; i++) {
        MPI_Comm communicator;
        MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
        allgather(communicator, i, 0);
        MPI_Comm_free(&communicator);
    }
}

static void in_threads(void)
{
    MPI_Comm communicators[THREADS];
    pthread_t threads[THREADS];
    for (int thread = 0; thread < THREADS; thread++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[thread]);
    }
    for (int thread = 0; thread < THREADS; thread++) {
        pthread_create(&threads[thread], NULL, all_of, &communicators[thread]);
    }
    for (int thread = 0; thread < THREADS; thread++) {
        pthread_join(threads[thread], NULL);
        MPI_Comm_free(&communicators[thread]);
    }
}

int main(int number, char **arguments)
{
    const char *what = number > 1 ? arguments[1] : "plain";
    int provided, has_threads = 0 == strcmp(what, "threads"), rank;
    MPI_Init_thread(NULL, NULL, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm communicator = MPI_COMM_WORLD;
    MPI_Comm_rank(communicator, &rank);
    length = number > 2 ? atoi(arguments[2]) : length;
    if (has_threads) {
        check(MPI_THREAD_MULTIPLE == provided, "the number of threads");
        in_threads();
    } else if (0 == strcmp(what, "nonblocking")) {
        allgather(communicator, 0, 1);
    } else if (0 == strcmp(what, "alike")) {
        on_two_alike();
    } else {
        all_of(&communicator);
    }
    if (0 == rank) {
        printf("all results are right\n");
    }
    MPI_Finalize();
    return 0;
}
