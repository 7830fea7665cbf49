/* Processes fail during collectives, and the others go on. Usage: ulfm SEED KILLS. In each round the ranks of a
 * communicator repeat a collective. One rank ends itself after some microseconds. The survivors must get
 * MPI_ERR_PROC_FAILED or MPI_ERR_REVOKED; until then all results must be right. Then they shrink the communicator,
 * check collectives on the new one, and lose the next rank there. The seed selects the victim, the collective and the
 * time. The program prints "all results are right" at the end, and a message if a rank hangs. */

#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* SCATTER_GAPS: the elements of the receive buffer have gaps. */
enum { ALLREDUCE, BCAST, ALLTOALL, BARRIER, SCATTER, SCATTER_GAPS, COLLECTIVES };
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* The survivors' reaction: either the first rank with an error revokes the communicator, or each waits for its own
   error. */
enum { REVOKES, WAITS, ENDINGS };

/* Seconds without a new call after which a rank reports that it hangs. */
enum { LIMIT = 30 };

static const char *const collectives[] = {"allreduce", "bcast", "alltoall", "barrier", "scatter", "scatter (with gaps)"};
static const char *const forms[] = {"blocking", "nonblocking", "persistent"};
static const int counts[] = {1, 700, 40000, 400000};

enum { COUNTS = sizeof counts / sizeof *counts };

typedef struct round {
    int number;
    int collective, form, count, root; /* elements of the vector, or of each block */
    int victim;
    int calls; /* of the victim, before it may fail */
    int delay; /* microseconds from then on; 0: at once */
    int ending;
} round_t;

static round_t current;
static MPI_Datatype with_gaps; /* a number and a gap as long */
static const char *where = "in its first calls";
static int world_rank;
static volatile sig_atomic_t is_victim, steps, steps_before;

static void describe(FILE *file, const char *what)
{
    fprintf(file, "rank %d: %s %s, round %d: rank %d fails after %d calls and %d us of a %s %s of %d elements\n", world_rank, what, where,
            current.number, current.victim, current.calls, current.delay, forms[current.form], collectives[current.collective], current.count);
    fflush(file);
}

static void fail(const char *what)
{
    describe(stdout, what);
    kill(getpid(), SIGKILL);
}

static void at_alarm(int signal)
{
    (void) signal;
    if (is_victim) {
        kill(getpid(), SIGKILL);
    }
    if (steps == steps_before) {
        fail("hangs");
    }
    steps_before = steps;
    alarm(LIMIT);
}

static uint64_t state;

static int below(int limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int) ((state >> 33) % (uint64_t) limit);
}

static int64_t value(int rank, int call, int element) { return (int64_t) rank * 1000003 + (int64_t) call * 7919 + element; }

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        fail(what);
    }
}

/* A communicator and its buffers on this rank. */
typedef struct place {
    MPI_Comm communicator;
    int rank, size, calls;
    int64_t *send, *recv;
    MPI_Request persistent; /* of the round's collective */
} place_t;

static int is_scatter(int collective) { return SCATTER == collective || SCATTER_GAPS == collective; }

/* Whether a rank sends another block to each rank. */
static int has_blocks(int collective) { return ALLTOALL == collective || is_scatter(collective); }

static void fill(place_t *place, const round_t *round)
{
    int elements = has_blocks(round->collective) ? round->count * place->size : round->count;
    for (int i = 0; i < elements; i++) {
        int block = i / round->count;
        place->send[i] = value(place->rank + 100 * block, place->calls, i % round->count);
        place->recv[i] = place->recv[2 * i] = -1;
    }
    if (BCAST == round->collective && place->rank == round->root) {
        memcpy(place->recv, place->send, sizeof *place->recv * (size_t) elements);
    }
}

static void check(const place_t *place, const round_t *round)
{
    for (int i = 0; i < round->count; i++) {
        if (BCAST == round->collective) {
            expect(value(round->root, place->calls, i) == place->recv[i], "wrong element of a broadcast");
        } else if (ALLREDUCE == round->collective) {
            int64_t sum = 0;
            for (int rank = 0; rank < place->size; rank++) {
                sum += value(rank, place->calls, i);
            }
            expect(sum == place->recv[i], "wrong sum");
        } else if (is_scatter(round->collective)) {
            int64_t received = place->recv[SCATTER == round->collective ? i : 2 * i];
            expect(value(round->root + 100 * place->rank, place->calls, i) == received, "wrong element of a scatter");
        } else if (ALLTOALL == round->collective) {
            for (int rank = 0; rank < place->size; rank++) {
                expect(value(rank + 100 * place->rank, place->calls, i) == place->recv[rank * round->count + i], "wrong element of an alltoall");
            }
        }
    }
}

/* The arguments of the collectives, which are the same in all forms. */
#define BUFFERS_ALLREDUCE place->send, place->recv, round->count, MPI_INT64_T, MPI_SUM, place->communicator
#define BUFFERS_BCAST place->recv, round->count, MPI_INT64_T, round->root, place->communicator
#define BUFFERS_SCATTER place->send, round->count, MPI_INT64_T, place->recv, round->count, \
        SCATTER == round->collective ? MPI_INT64_T : with_gaps, round->root, place->communicator
#define BUFFERS_ALLTOALL place->send, round->count, MPI_INT64_T, place->recv, round->count, MPI_INT64_T, place->communicator

static int call_blocking(place_t *place, const round_t *round)
{
    switch (round->collective) {
    case ALLREDUCE:
        return MPI_Allreduce(BUFFERS_ALLREDUCE);
    case BCAST:
        return MPI_Bcast(BUFFERS_BCAST);
    case ALLTOALL:
        return MPI_Alltoall(BUFFERS_ALLTOALL);
    case SCATTER:
    case SCATTER_GAPS:
        return MPI_Scatter(BUFFERS_SCATTER);
    default:
        return MPI_Barrier(place->communicator);
    }
}

static int begin(place_t *place, const round_t *round, MPI_Request *request)
{
    switch (round->collective) {
    case ALLREDUCE:
        return MPI_Iallreduce(BUFFERS_ALLREDUCE, request);
    case BCAST:
        return MPI_Ibcast(BUFFERS_BCAST, request);
    case ALLTOALL:
        return MPI_Ialltoall(BUFFERS_ALLTOALL, request);
    case SCATTER:
    case SCATTER_GAPS:
        return MPI_Iscatter(BUFFERS_SCATTER, request);
    default:
        return MPI_Ibarrier(place->communicator, request);
    }
}

static int prepare(place_t *place, const round_t *round, MPI_Request *request)
{
    switch (round->collective) {
    case ALLREDUCE:
        return MPI_Allreduce_init(BUFFERS_ALLREDUCE, MPI_INFO_NULL, request);
    case BCAST:
        return MPI_Bcast_init(BUFFERS_BCAST, MPI_INFO_NULL, request);
    case ALLTOALL:
        return MPI_Alltoall_init(BUFFERS_ALLTOALL, MPI_INFO_NULL, request);
    case SCATTER:
    case SCATTER_GAPS:
        return MPI_Scatter_init(BUFFERS_SCATTER, MPI_INFO_NULL, request);
    default:
        return MPI_Barrier_init(place->communicator, MPI_INFO_NULL, request);
    }
}

static int call(place_t *place, const round_t *round)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (BLOCKING == round->form) {
        return call_blocking(place, round);
    }
    if (NONBLOCKING == round->form) {
        int error = begin(place, round, &request);
        return MPI_SUCCESS != error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (MPI_REQUEST_NULL == place->persistent) {
        int error = prepare(place, round, &place->persistent);
        if (MPI_SUCCESS != error) {
            return error;
        }
    }
    int error = MPI_Start(&place->persistent);
    return MPI_SUCCESS != error ? error : MPI_Wait(&place->persistent, MPI_STATUS_IGNORE);
}

/* Makes one call. The result must be right, or the error one of a failed process. */
static int perform(place_t *place, const round_t *round)
{
    place->calls++;
    steps++;
    fill(place, round);
    int error = call(place, round), class = MPI_SUCCESS;
    if (MPI_SUCCESS == error) {
        check(place, round);
        return MPI_SUCCESS;
    }
    MPI_Error_class(error, &class);
    if (MPIX_ERR_PROC_FAILED != class && MPIX_ERR_REVOKED != class) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(error, text, &length);
        printf("error %d: %s\n", error, text);
        fail("another error than expected");
    }
    return class;
}

static place_t place_of(MPI_Comm communicator)
{
    place_t place = {.communicator = communicator, .persistent = MPI_REQUEST_NULL};
    MPI_Comm_rank(communicator, &place.rank);
    MPI_Comm_size(communicator, &place.size);
    size_t bytes = sizeof(int64_t) * ((size_t) counts[COUNTS - 1] + 1) * (size_t) place.size;
    place.send = malloc(bytes);
    place.recv = malloc(2 * bytes);
    expect(NULL != place.send && NULL != place.recv, "no memory");
    return place;
}

static void leave(place_t *place)
{
    if (MPI_REQUEST_NULL != place->persistent) {
        MPI_Request_free(&place->persistent);
    }
    if (MPI_COMM_WORLD != place->communicator) {
        MPI_Comm_free(&place->communicator);
    }
    free(place->send);
    free(place->recv);
}

/* Checks all collectives on a communicator without failures. */
static void check_all(place_t *place)
{
    round_t all = current;
    for (all.collective = 0; all.collective < COLLECTIVES; all.collective++) {
        for (all.form = 0; all.form < FORMS; all.form++) {
            for (int i = 0; i < COUNTS; i++) {
                all.count = counts[i] / (has_blocks(all.collective) ? place->size : 1) + 1;
                all.root = i % place->size;
                expect(MPI_SUCCESS == perform(place, &all), "error without a failure");
                if (MPI_REQUEST_NULL != place->persistent) {
                    expect(MPI_SUCCESS == perform(place, &all), "error without a failure, at the second start");
                    MPI_Request_free(&place->persistent);
                }
            }
        }
    }
}

static round_t drawn(int number, int size)
{
    round_t round = {.number = number, .collective = below(COLLECTIVES), .form = below(FORMS), .count = counts[below(COUNTS)]};
    round.root = below(size);
    round.victim = below(size);
    /* The victim may fail in its first call, in which the ranks learn of shared memory. */
    round.calls = below(2) ? 3 : 0;
    round.delay = below(4) ? below(1 << (6 + below(9))) : 0;
    round.ending = below(ENDINGS);
    if (is_scatter(round.collective) && below(2)) {
        /* Others may be copying from its memory. */
        round.victim = round.root;
    }
    if (has_blocks(round.collective)) {
        round.count = round.count / size + 1;
    }
    return round;
}

/* Returns a communicator of the ranks without the victim. The victim is alone on its own, and goes on once all others
   have theirs. */
static place_t without_victim(const place_t *place)
{
    MPI_Comm part;
    int is_alone = current.victim == place->rank;
    expect(MPI_SUCCESS == MPI_Comm_split(place->communicator, is_alone, 0, &part), "error when splitting");
    if (!is_alone) {
        MPI_Send(NULL, 0, MPI_INT, current.victim, 0, place->communicator);
    }
    for (int others = is_alone ? place->size - 1 : 0; others > 0; others--) {
        MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, place->communicator, MPI_STATUS_IGNORE);
    }
    return place_of(part);
}

static void die(place_t *place)
{
    is_victim = 1;
    for (int calls = current.calls; calls > 0; calls--) {
        perform(place, &current);
    }
    if (0 == current.delay) {
        kill(getpid(), SIGKILL);
    }
    struct itimerval timer = {.it_value = {.tv_usec = current.delay}};
    setitimer(ITIMER_REAL, &timer, NULL);
    for (;;) {
        perform(place, &current);
    }
}

static void expect_errors(place_t *place)
{
    round_t again = current;
    for (again.form = 0; again.form < FORMS; again.form++) {
        if (MPI_REQUEST_NULL != place->persistent) {
            MPI_Request_free(&place->persistent);
        }
        expect(MPI_SUCCESS != perform(place, &again), "success after a failure");
    }
}

static void survive(place_t *place)
{
    int error, flag = 1;
    do {
        error = perform(place, &current);
    } while (MPI_SUCCESS == error);
    where = "after its first error";
    expect(MPIX_ERR_PROC_FAILED == error || REVOKES == current.ending, "revoked by nobody");
    if (REVOKES == current.ending) {
        MPIX_Comm_revoke(place->communicator);
    }
    where = "in MPIX_Comm_agree";
    MPIX_Comm_agree(place->communicator, &flag);
    expect(1 == flag, "wrong agreement");
    where = "after the agreement";
    expect_errors(place);
}

static MPI_Comm shrunk(place_t *place)
{
    MPI_Comm smaller;
    where = "in MPIX_Comm_shrink";
    expect(MPI_SUCCESS == MPIX_Comm_shrink(place->communicator, &smaller), "error when shrinking");
    return smaller;
}

int main(int count, char **arguments)
{
    int seed = 1 < count ? atoi(arguments[1]) : 0, kills = 2 < count ? atoi(arguments[2]) : 1, provided;
    MPI_Init_thread(&count, &arguments, seed % 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    state = (uint64_t) seed;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    signal(SIGALRM, at_alarm);
    alarm(LIMIT);
    MPI_Type_create_resized(MPI_INT64_T, 0, 2 * sizeof(int64_t), &with_gaps);
    MPI_Type_commit(&with_gaps);
    place_t place = place_of(MPI_COMM_WORLD);
    for (int number = 0; number < kills && 1 < place.size; number++) {
        current = drawn(number, place.size);
        if (0 == place.rank) {
            printf("seed %d, ", seed);
            describe(stdout, "goes on");
        }
        where = "before the failure";
        place_t spared = without_victim(&place);
        where = "at the failure";
        if (current.victim == place.rank) {
            die(&place);
        }
        survive(&place);
        where = "on a communicator without the failed process";
        check_all(&spared);
        leave(&spared);
        place_t smaller = place_of(shrunk(&place));
        expect(smaller.size == place.size - 1, "wrong size");
        where = "when freeing the communicator";
        leave(&place);
        place = smaller;
        where = "in the shrunk communicator";
        check_all(&place);
    }
    /* Without MPI_Finalize, because some releases of Open MPI wait there for the failed processes. */
    where = "at the end";
    MPI_Barrier(place.communicator);
    if (0 == place.rank) {
        printf("all results are right\n");
        fflush(stdout);
    }
    _exit(0);
}
