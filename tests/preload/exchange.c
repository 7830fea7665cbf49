/* Long messages to neighbours, and collectives between sending and waiting, as programs with halos do. A rank that waits in a collective for
 * another one must let MPI move the messages that this one waits for. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 1 << 20, ROUNDS = 200 };

/* Rank 0's memory, which others write while it is in a barrier. */
static int put_at_rank_0(int rank, int size)
{
    int *memory, wrong = 0;
    MPI_Win window;
    MPI_Win_allocate((MPI_Aint) (size * (int) sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, (size_t) size * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 != rank) {
        const int value = 10 + rank;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        for (int i = 1; i < size; i++) {
            wrong += 10 + i != memory[i];
        }
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *sent = malloc(LONG), *received = malloc(LONG);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        int one = 1, all = 0;
        memset(sent, rank + round, LONG);
        MPI_Irecv(received, LONG, MPI_CHAR, left, 0, MPI_COMM_WORLD, &request);
        MPI_Send(sent, LONG, MPI_CHAR, right, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += all != size || received[0] != (char) (left + round) || received[LONG - 1] != (char) (left + round);
    }
    wrong += put_at_rank_0(rank, size);
    if (0 != wrong) {
        printf("exchange: %d results are wrong at rank %d\n", wrong, rank);
    }
    free(sent);
    free(received);
    MPI_Finalize();
    return 0 != wrong;
}
