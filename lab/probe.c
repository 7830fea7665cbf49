// Measures the emulated network from within a job, for `lab/lab check`. Rank 0 prints
//   latency_ns N        half of the round trip of one byte to rank 1
//   per_byte_ns X       the time that each further byte of a message to rank 1 takes
//   gap_ns N            the time that each further rank adds to a round trip to all others at once
//   everybody_ns N      the time in which all ranks send each other one byte at once
// All are medians, so that single disturbances do not count.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REPETITIONS 41
#define LONG_MESSAGE (512 * 1024)
#define LONGER_MESSAGE (2 * LONG_MESSAGE)
// After this time, messages that precede an exchange of all ranks have left the ports.
#define SECONDS_TO_SETTLE 0.05

static int rank, ranks;
static char *sent, *received;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Rank 0 sends to the next `partners` ranks at once, and each answers with one byte. So the others always
// wait for rank 0. A barrier before would leave messages on the ports.
static double exchange_of_first(int partners, int bytes) {
    double start = MPI_Wtime();
    if (rank == 0) {
        MPI_Request requests[2 * partners];
        for (int partner = 1; partner <= partners; partner++) {
            MPI_Irecv(received + partner, 1, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[partner - 1]);
            MPI_Isend(sent, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[partners + partner - 1]);
        }
        MPI_Waitall(2 * partners, requests, MPI_STATUSES_IGNORE);
    } else if (rank <= partners) {
        MPI_Recv(received, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(sent, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - start;
}

// All hosts have one monotonic clock. MPI_Wtime(), however, begins anew in each process.
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double agree_on_start(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now() + SECONDS_TO_SETTLE;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    struct timespec until = {(time_t)start, (long)((start - (time_t)start) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    return start;
}

// Each rank begins with its successor, so that no rank gets two messages at a time. The last rank's end counts.
static double exchange_of_everybody(int others, int bytes) {
    MPI_Request requests[2 * others];
    double start = agree_on_start();
    for (int step = 1; step <= others; step++) {
        MPI_Irecv(received + step, bytes, MPI_BYTE, (rank + ranks - step) % ranks, 0, MPI_COMM_WORLD, &requests[step - 1]);
        MPI_Isend(sent, bytes, MPI_BYTE, (rank + step) % ranks, 0, MPI_COMM_WORLD, &requests[others + step - 1]);
    }
    MPI_Waitall(2 * others, requests, MPI_STATUSES_IGNORE);
    double own = now() - start, last;
    MPI_Allreduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return last;
}

static double median_nanoseconds(double (*exchange)(int, int), int partners, int bytes) {
    double times[REPETITIONS];
    exchange(partners, bytes);
    for (int repetition = 0; repetition < REPETITIONS; repetition++) times[repetition] = exchange(partners, bytes);
    qsort(times, REPETITIONS, sizeof *times, by_value);
    return times[REPETITIONS / 2] * 1e9;
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 3) {
        fprintf(stderr, "probe: the gap shows with 3 ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    sent = calloc(LONGER_MESSAGE, 1);
    received = calloc(LONGER_MESSAGE, 1);
    double one = median_nanoseconds(exchange_of_first, 1, 1), all = median_nanoseconds(exchange_of_first, ranks - 1, 1);
    double long_message = median_nanoseconds(exchange_of_first, 1, LONG_MESSAGE);
    double longer_message = median_nanoseconds(exchange_of_first, 1, LONGER_MESSAGE);
    double everybody = median_nanoseconds(exchange_of_everybody, ranks - 1, 1);
    if (rank == 0) {
        printf("latency_ns %.0f\n", one / 2);
        printf("per_byte_ns %.3f\n", (longer_message - long_message) / (LONGER_MESSAGE - LONG_MESSAGE));
        printf("gap_ns %.0f\n", (all - one) / (ranks - 2));
        printf("everybody_ns %.0f\n", everybody);
    }
    MPI_Finalize();
    return 0;
}
