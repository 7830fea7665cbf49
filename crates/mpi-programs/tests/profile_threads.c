/* Two threads on communicators of their own. The ranks first call a collective on these in different orders. Rank 1 comes late to each call on
 * the second one. */

#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

/* Microseconds. The threads of both ranks compute while they wait, so the system lets a rank in time come late, too, but far less. */
enum { CALLS = 40, LATE = 100000, BETWEEN_THREADS = 30000 };

static int rank;
static MPI_Comm communicators[2];

static void *work(void *number)
{
    const int thread = (int) (size_t) number;
    int one = 1, sum;
    usleep(rank == thread ? 0 : BETWEEN_THREADS);
    for (int i = 0; i < CALLS; i++) {
        if (1 == rank && 1 == thread) {
            usleep(LATE);
        }
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicators[thread]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int thread = 0; thread < 2; thread++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[thread]);
        MPI_Comm_set_name(communicators[thread], 0 == thread ? "in time" : "late");
    }
    for (int thread = 0; thread < 2; thread++) {
        pthread_create(&threads[thread], NULL, work, (void *) (size_t) thread);
    }
    for (int thread = 0; thread < 2; thread++) {
        pthread_join(threads[thread], NULL);
        MPI_Comm_free(&communicators[thread]);
    }
    MPI_Finalize();
    return 0;
}
