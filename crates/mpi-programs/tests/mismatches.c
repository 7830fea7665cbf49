/* A user's program with calls in which one rank expects less than its peer sends, by every algorithm of every
 * collective. It checks which errors the ranks get, whether a call writes outside its buffers, and whether
 * the same call with right counts succeeds afterwards.
 *
 *     mismatches COUNT [COLLECTIVE [ALGORITHM]] */
#include "algorithms.h"
#include "collectives.h"

#include <signal.h>
#include <unistd.h>

enum { GUARD = 4096, PATTERN = 0x5a, SECONDS = 10 };

/* A buffer between two guards. No call may write to the guards. */
typedef struct guarded {
    unsigned char *memory;
    size_t bytes;
} guarded;

static guarded guard(size_t bytes)
{
    guarded made = {malloc(bytes + 2 * GUARD), bytes};
    memset(made.memory, PATTERN, bytes + 2 * GUARD);
    return made;
}

static int *data(const guarded *buffer) { return (int *) (buffer->memory + GUARD); }

/* Frees the buffer; returns whether a guard was written. */
static int is_overrun(guarded *buffer)
{
    int overrun = 0;
    for (size_t i = 0; i < GUARD; i++) {
        overrun |= PATTERN != buffer->memory[i] || PATTERN != buffer->memory[GUARD + buffer->bytes + i];
    }
    free(buffer->memory);
    return overrun;
}

/* Number of ranks with which a rank exchanges data. */
static int partners(enum kind kind)
{
    if (TWO_GROUPS == kind) {
        return rank < first_group() ? size - first_group() : first_group();
    }
    return NEIGHBOURS == kind ? 2 : size;
}

typedef struct test {
    enum collective collective;
    enum form form;
    enum kind kind;
    int count, victim, is_in_place;
    const char *algorithm;
} test;

static const test *current;

static void describe(const test *t)
{
    printf("%s by %s, %s, %s%s, %d ints, rank %d expects less", names[t->collective], t->algorithm, kinds[t->kind],
           forms[t->form], t->is_in_place ? " in place" : "", t->count, t->victim);
}

/* Not safe in a signal handler, but the program hangs anyway. */
static void give_up(int signal)
{
    (void) signal;
    if (0 == rank) {
        describe(current);
        printf(": hangs\n");
        fflush(stdout);
    }
    sleep(1);
    _exit(3);
}

/* Returns the content of a receive block after a right call, if every rank's elements are its rank plus the
 * base. Returns a negative number if the content depends on more. */
static int expected(const test *t, int block, int base)
{
    const int is_second = rank >= first_group(), is_root = 0 == rank;
    const int first = TWO_GROUPS == t->kind && !is_second ? first_group() : 0, number = partners(t->kind);
    const int sum = number * (base + first) + number * (number - 1) / 2;
    if (BCAST == t->collective || SCATTER == t->collective || SCATTERV == t->collective) {
        return TWO_GROUPS != t->kind || is_second ? base : -1;
    }
    if ((is_rooted(t->collective) && !is_root) || EXSCAN == t->collective) {
        return -1;
    }
    if (SCAN == t->collective) {
        return (rank + 1) * base + rank * (rank + 1) / 2;
    }
    if (NEIGHBOURS == t->kind) {
        return base + (rank + (0 == block ? size - 1 : 1)) % size;
    }
    return reduces(t->collective) ? sum : base + first + block;
}

/* Makes one call in which this rank receives `own` elements. Returns the class of its error, and counts wrong
 * results. */
static int call(const test *t, MPI_Comm comm, int own, int base, int *wrong, int *overrun)
{
    const int blocks = partners(t->kind), is_two = TWO_GROUPS == t->kind;
    const int is_scattered = SCATTER == t->collective || SCATTERV == t->collective;
    const int is_block = BCAST == t->collective || reduces(t->collective);
    /* Counts of reductions and broadcasts hold for both buffers, as in a call in place. Between groups, a
     * reduce-scatter's input is as long as the results of all ranks of the own group, and of the other group. */
    const int results = is_two ? size - blocks : size;
    const int is_scatter = REDUCE_SCATTER == t->collective || REDUCE_SCATTER_BLOCK == t->collective;
    own *= is_scatter && is_two ? blocks : 1;
    const int sent = reduces(t->collective) ? own : t->count;
    const size_t send_blocks = is_scatter ? (size_t) results : is_block ? 1U : (size_t) blocks;
    const size_t recv_blocks = t->is_in_place ? send_blocks : is_block || is_scattered ? 1U : (size_t) blocks;
    guarded send = guard(send_blocks * (size_t) sent * sizeof(int));
    guarded recv = guard(recv_blocks * (size_t) own * sizeof(int));
    for (size_t i = 0; i < send.bytes / sizeof(int); i++) {
        data(&send)[i] = base + rank;
    }
    for (size_t i = 0; i < recv.bytes / sizeof(int); i++) {
        data(&recv)[i] = t->is_in_place || BCAST == t->collective ? base + rank : -2;
    }
    arguments a = {t->is_in_place ? MPI_IN_PLACE : data(&send), data(&recv), sent, own, MPI_INT, MPI_INT, MPI_SUM,
                   root_argument(t->kind)};
    int class = run(t->collective, t->form, &a, comm);
    for (size_t i = 0; NULL != wrong && i < recv_blocks * (size_t) own; i++) {
        int value = expected(t, (int) (i / (size_t) own), base);
        *wrong += value >= 0 && !(t->is_in_place && is_scatter && i >= (size_t) own) && value != data(&recv)[i];
    }
    *overrun |= is_overrun(&recv);
    *overrun |= is_overrun(&send);
    return class;
}

/* Prints what the ranks saw: the error's class, overruns, and whether the next call failed or was wrong. */
static void report(const test *t, const int *results)
{
    int truncated = 0, other = 0, overrun = 0, failed = 0, wrong = 0;
    for (int i = 0; i < size; i++) {
        const int *seen = results + 4 * i;
        truncated += MPI_ERR_TRUNCATE == seen[0];
        other += MPI_ERR_TRUNCATE != seen[0] && MPI_SUCCESS != seen[0];
        overrun += seen[1];
        failed += MPI_SUCCESS != seen[2];
        wrong += 0 != seen[3];
    }
    const char *by = MPI_ERR_TRUNCATE == results[4 * t->victim] ? "truncated" : "truncated elsewhere";
    describe(t);
    printf(": %s%s%s%s%s\n", 0 == truncated ? "unnoticed" : by, other > 0 ? ", other error" : "",
           overrun > 0 ? ", overrun" : "", failed > 0 ? ", then error" : "", wrong > 0 ? ", then wrong" : "");
    fflush(stdout);
}

static void try(const test *t)
{
    MPI_Comm comm = make(t->kind);
    int result[4] = {0}, results[4 * MOST_RANKS];
    current = t;
    alarm(SECONDS);
    result[0] = call(t, comm, rank == t->victim ? t->count / 2 : t->count, 1000, NULL, result + 1);
    MPI_Barrier(talk);
    result[2] = call(t, comm, t->count, 1, result + 3, result + 1);
    MPI_Gather(result, 4, MPI_INT, results, 4, MPI_INT, 0, talk);
    alarm(0);
    if (0 == rank) {
        report(t, results);
    }
    MPI_Comm_free(&comm);
}

/* Whether a rank has a receive count and receives something. */
static int receives(enum collective c, enum kind kind, int victim)
{
    if (SCAN == c || EXSCAN == c) {
        return 0 != victim;
    }
    if (!is_rooted(c)) {
        return 1;
    }
    if (BCAST == c || SCATTER == c || SCATTERV == c) {
        return TWO_GROUPS == kind ? victim >= first_group() : victim != 0;
    }
    return 0 == victim;
}

static int may_be_in_place(enum collective c, enum kind kind)
{
    return ONE_GROUP == kind && !is_rooted(c);
}

static void try_all(enum collective collective, const char *algorithm, int count)
{
    enum kind first = ONE_GROUP, last = TWO_GROUPS;
    if (is_of(collective, NEIGHBOURS)) {
        first = last = NEIGHBOURS;
    } else if (NULL != algorithm) {
        first = last = 0 == strncmp(algorithm, "inter_", 6) ? TWO_GROUPS : ONE_GROUP;
    }
    for (enum kind kind = first; kind <= last; kind++) {
        for (int in_place = 0; is_of(collective, kind) && in_place <= may_be_in_place(collective, kind); in_place++) {
            for (enum form form = 0; form < FORMS; form++) {
                for (int victim = 0; victim < size; victim++) {
                    test t = {collective, form, kind, count, victim, in_place, NULL == algorithm ? "auto" : algorithm};
                    if (receives(collective, kind, victim)) {
                        try(&t);
                    }
                }
            }
        }
    }
}

/* Tries every algorithm of a collective that the component's variable lists. Without the component, tries whatever MPI
   has. */
static void try_algorithms(enum collective collective, const char *only, int count)
{
    algorithms all;
    if (!find_algorithms(&all, names[collective])) {
        try_all(collective, NULL, count);
        return;
    }
    for (int i = 0; i < all.number; i++) {
        const char *name = force(&all, i);
        if (NULL == only ? 0 != strcmp("auto", name) : 0 == strcmp(only, name)) {
            try_all(collective, name, count);
        }
    }
    release(&all);
}

static void test_mismatches(int count, const char *collective, const char *algorithm)
{
    signal(SIGALRM, give_up);
    for (enum collective c = 0; c < COLLECTIVES; c++) {
        if (NULL == collective || 0 == strcmp(collective, names[c])) {
            try_algorithms(c, algorithm, count);
        }
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    test_mismatches(argc > 1 ? atoi(argv[1]) : 16, argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
    end();
    return 0;
}
