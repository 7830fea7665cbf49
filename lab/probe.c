// Measures the emulated network from within a job, for `lab/lab check`. The first rank prints
//   latency_ns N        half of a round trip of one byte to the second rank
//   per_byte_ns X       by which each byte prolongs a message to the second rank
//   gap_ns N            by which each further rank prolongs a round trip to all others at once
// Medians are taken, so that a disturbance does not count.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define REPETITIONS 41
#define LONG_MESSAGE (512 * 1024)
#define LONGER_MESSAGE (2 * LONG_MESSAGE)

static int rank, ranks;
static char *sent, *received;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The first rank sends to the next `partners`, all at once, and each answers with one byte. So the others always wait for
// the first one; a barrier before would leave messages on the ports.
static double exchange(int partners, int bytes) {
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

static double median_nanoseconds(int partners, int bytes) {
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
    double one = median_nanoseconds(1, 1), all = median_nanoseconds(ranks - 1, 1);
    double long_message = median_nanoseconds(1, LONG_MESSAGE), longer_message = median_nanoseconds(1, LONGER_MESSAGE);
    if (rank == 0) {
        printf("latency_ns %.0f\n", one / 2);
        printf("per_byte_ns %.3f\n", (longer_message - long_message) / (LONGER_MESSAGE - LONG_MESSAGE));
        printf("gap_ns %.0f\n", (all - one) / (ranks - 2));
    }
    MPI_Finalize();
    return 0;
}
