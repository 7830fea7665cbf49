/* A user's program for collectives over shared memory. The first argument selects the test. */
#include <mpi.h>
#include <mpi-ext.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verdict.h"

/* Elements of a long vector. Each rank has a part of it. */
#define LONG (96 * 1024)

static int wrong;

static void expect(long got, long wanted)
{
    wrong += got != wanted;
}

/* How often this process has copied from its own memory by the system. */
static int own_copies;

/* Replaces the C library's function. */
ssize_t process_vm_readv(pid_t process, const struct iovec *own, unsigned long own_number, const struct iovec *other,
                         unsigned long other_number, unsigned long flags)
{
    own_copies += getpid() == process;
    return syscall(SYS_process_vm_readv, process, own, own_number, other, other_number, flags);
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

/* Returns how many elements differ from factor * index + summand. */
static int differences(const int *vector, int count, int factor, int summand)
{
    int differ = 0;
    for (int i = 0; i < count; i++) {
        differ += vector[i] != factor * i + summand;
    }
    return differ;
}

static void fill(int *vector, int count, int summand)
{
    for (int i = 0; i < count; i++) {
        vector[i] = i + summand;
    }
}

/* Makes a broadcast, an allreduce and an alltoall. Returns how many elements are wrong. */
static int collectives(MPI_Comm communicator, int count)
{
    int rank = rank_in(communicator), size = size_of(communicator), block = count / size, differ = 0;
    int *vector = malloc((size_t) count * sizeof *vector), *result = malloc((size_t) count * sizeof *result);
    fill(vector, count, 0 == rank ? 7 : 0);
    MPI_Bcast(vector, count, MPI_INT, 0, communicator);
    differ += differences(vector, count, 1, 7);
    fill(vector, count, rank);
    MPI_Allreduce(vector, result, count, MPI_INT, MPI_SUM, communicator);
    differ += differences(result, count, size, size * (size - 1) / 2);
    for (int i = 0; i < block * size; i++) {
        vector[i] = i % block + rank + i / block;
    }
    MPI_Alltoall(vector, block, MPI_INT, result, block, MPI_INT, communicator);
    for (int from = 0; from < size; from++) {
        differ += differences(result + from * block, block, 1, from + rank);
    }
    free(vector);
    free(result);
    return differ;
}

/* Rank 1 is killed while the others go on. */
static void test_die(void)
{
    for (int round = 0;; round++) {
        if (50 == round && 1 == rank_in(MPI_COMM_WORLD)) {
            raise(SIGKILL);
        }
        expect(collectives(MPI_COMM_WORLD, LONG), 0);
    }
}

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    expect(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (size_t) pages * (size_t) sysconf(_SC_PAGESIZE);
}

/* Returns a limit of a resource that is too low for sharing memory. */
static rlim_t little(const char *what)
{
    int next = dup(0);
    close(next);
    return 0 == strcmp(what, "descriptors") ? (rlim_t) next
         : 0 == strcmp(what, "file size")   ? 1 << 20
                                            : address_space() + (1 << 20);
}

/* On two communicators a rank cannot share memory, but on the last one it can. The rank is the one that makes the
   memory (rank 0), or another. */
static void test_lack(const char *what, int rank)
{
    int resource = 0 == strcmp(what, "descriptors") ? RLIMIT_NOFILE
                 : 0 == strcmp(what, "file size")   ? RLIMIT_FSIZE
                                                    : RLIMIT_AS;
    struct rlimit before, limited;
    MPI_Comm communicators[3];
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
    }
    getrlimit(resource, &before);
    limited = before;
    limited.rlim_cur = little(what);
    if (rank == rank_in(MPI_COMM_WORLD)) {
        expect(setrlimit(resource, &limited), 0);
    }
    for (int i = 0; i < 2; i++) {
        expect(collectives(communicators[i], 3000), 0);
    }
    expect(setrlimit(resource, &before), 0);
    for (int i = 0; i < 6; i++) {
        expect(collectives(communicators[i % 3], 3000), 0);
    }
}

/* Forbids this process to copy from the memory of other processes. */
static void withhold(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    expect(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* One rank may not copy from other ranks' memory: from the start, or after the ranks have found that it may. */
static void test_withhold(int is_late, int rank)
{
    int vector[3000], is_refused = rank == rank_in(MPI_COMM_WORLD);
    MPI_Comm later;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; is_late && i < 3; i++) {
        expect(collectives(MPI_COMM_WORLD, 3000), 0);
    }
    if (is_refused) {
        withhold();
    }
    for (int i = 0; is_late && i < 3; i++) {
        fill(vector, 3000, 0 == rank_in(MPI_COMM_WORLD) ? i : -1);
        int status = MPI_Bcast(vector, 3000, MPI_INT, 0, MPI_COMM_WORLD);
        expect(status, is_refused ? MPI_ERR_OTHER : MPI_SUCCESS);
        expect(differences(vector, 3000, 1, is_refused ? -1 : i), 0);
        fill(vector, 3000, i);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &later);
    for (int i = 0; i < 6; i++) {
        expect(collectives(later, 3000), 0);
    }
    MPI_Comm_free(&later);
}

/* Broadcasts memory that processors can read, but from which the system cannot copy: the kernel's clock page. */
static void test_mapped(void)
{
    char line[4096], received[64];
    const char *mapped = NULL;
    FILE *file = fopen("/proc/self/maps", "r");
    while (NULL != fgets(line, sizeof line, file)) {
        if (NULL != strstr(line, "[vvar]")) {
            mapped = (const char *) strtoul(line, NULL, 16);
        }
    }
    fclose(file);
    expect(NULL == mapped, 0);
    for (int root = 0; root < size_of(MPI_COMM_WORLD); root++) {
        int is_root = root == rank_in(MPI_COMM_WORLD);
        void *buffer = is_root ? (void *) mapped : received;
        expect(MPI_Bcast(buffer, sizeof received, MPI_BYTE, root, MPI_COMM_WORLD), MPI_SUCCESS);
    }
}

/* The root lends a block to each rank. In each call it asks the system once whether that can copy from all of them. */
static void test_scatter(void)
{
    enum { COUNT = 1000, ROOT = 1 };
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), block[COUNT];
    int *vector = malloc((size_t) (size * COUNT) * sizeof *vector);
    for (int i = 0; i < 5; i++) {
        fill(vector, size * COUNT, i);
        int before = own_copies;
        MPI_Scatter(vector, COUNT, MPI_INT, block, COUNT, MPI_INT, ROOT, MPI_COMM_WORLD);
        expect(differences(block, COUNT, 1, rank * COUNT + i), 0);
        /* Before the first call, ranks find out whether they can copy from each other. */
        expect(0 == i || own_copies - before == (ROOT == rank), 1);
    }
    free(vector);
}

/* Returns the greater one of the numbers of two ranks, by a call of a form. */
static int greater(int own, const char *form, MPI_Comm communicator)
{
    int result[2] = {own, own};
    MPI_Request request;
    if (0 == strcmp(form, "blocking")) {
        MPI_Allreduce(&own, result, 1, MPI_INT, MPI_MAX, communicator);
        return result[0];
    }
    if (0 == strcmp(form, "nonblocking")) {
        MPI_Iallreduce(&own, result, 1, MPI_INT, MPI_MAX, communicator, &request);
    } else {
        /* rustcoll copies the input, so it does not use the operation again. */
        MPI_Ireduce_scatter_block(MPI_IN_PLACE, result, 1, MPI_INT, MPI_MAX, communicator, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return result[0];
}

/* Rank 0 makes collectives with rank 1, and in each of them comes last, so that it never has to wait. Returns how many rank 1 made when it saw
 * the message of rank 2, which comes when rank 0 has received another one. */
static int make_collectives(int rank, const char *form, MPI_Comm pair)
{
    enum { BEGIN = 10, MOST = 1000 };
    volatile int *made;
    int has_come = 0, unit;
    MPI_Aint bytes;
    MPI_Win window;
    MPI_Win_allocate_shared(0 == rank ? sizeof *made : 0, sizeof *made, MPI_INFO_NULL, pair, (void *) &made, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, (void *) &made);
    int i = 0;
    for (; i < MOST && !has_come; i++) {
        if (1 == rank) {
            if (BEGIN == i) {
                MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
            }
            MPI_Iprobe(2, 0, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
            *made = i + 1;
        }
        while (0 == rank && *made <= i) {
            usleep(1000);
        }
        if (0 == rank) {
            /* Meanwhile rank 1 comes to the collective. */
            usleep(10000);
        }
        has_come = greater(has_come, form, pair);
    }
    MPI_Win_free(&window);
    return has_come ? i : MOST;
}

/* Rank 2 sends to rank 0, and when rank 0 has received that, to rank 1. Meanwhile ranks 0 and 1 make only collectives. */
static void test_messages(const char *form)
{
    enum { COUNT = 1 << 16, MANY = 300 };
    int rank = rank_in(MPI_COMM_WORLD);
    int *vector = calloc(COUNT, sizeof *vector);
    MPI_Comm pair;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    if (0 == rank) {
        MPI_Irecv(vector, COUNT, MPI_INT, 2, 0, MPI_COMM_WORLD, &request);
    }
    if (2 == rank) {
        /* When the others make collectives, so that only progress can find the message. */
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(vector, COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        /* The first calls allocate shared memory. */
        for (int i = 0; i < 10; i++) {
            greater(0, form, pair);
        }
        expect(make_collectives(rank, form, pair) < MANY, 1);
    }
    if (0 == rank) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (1 == rank) {
        MPI_Recv(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&pair);
    free(vector);
}

/* Returns how many lines of this process's mappings contain a text. */
static int mappings(const char *text)
{
    char line[4096];
    int number = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (NULL != fgets(line, sizeof line, file)) {
        number += NULL != strstr(line, text);
    }
    fclose(file);
    return number;
}

static int descriptors(void)
{
    int number = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (NULL != readdir(folder)) {
        number++;
    }
    closedir(folder);
    return number;
}

/* Returns the resident KiB of rustcoll's shared memory in this process. */
static long resident(void)
{
    char line[4096];
    long all = 0, one;
    int is_own = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (NULL != fgets(line, sizeof line, file)) {
        if (NULL != strstr(line, "-s ") && NULL != strchr(line, '-')) {
            is_own = NULL != strstr(line, "rw-s") && NULL != strstr(line, "memfd:rustcoll");
        } else if (is_own && 1 == sscanf(line, "Rss: %ld kB", &one)) {
            all += one;
            is_own = 0;
        }
    }
    fclose(file);
    return all;
}

/* Many communicators with long calls share at most `limit` KiB, not counting flags. */
static void test_many(int communicators, long limit)
{
    MPI_Comm *each = malloc((size_t) communicators * sizeof *each);
    /* Open MPI duplicates a communicator by non-blocking collectives on it. After some of them rustcoll shares memory. */
    for (int i = 0; i < 10; i++) {
        MPI_Comm first;
        MPI_Comm_dup(MPI_COMM_WORLD, &first);
        MPI_Comm_free(&first);
    }
    int opened = descriptors(), mapped = mappings("memfd:rustcoll");
    long most = 0;
    for (int i = 0; i < communicators; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &each[i]);
        expect(collectives(each[i], LONG), 0);
        if (0 == i % 10) {
            long now = resident();
            most = now > most ? now : most;
        }
    }
    /* One mapping for each communicator. The part that a rank may write cuts it into at most three. */
    expect(mappings("memfd:rustcoll") <= mapped + 3 * communicators, 1);
    expect(descriptors(), opened);
    /* Communicators keep flags and slots of a cache line until they end. */
    long flags = communicators * 64L;
    if (most > limit + flags) {
        printf("rank %d shares %ld KiB\n", rank_in(MPI_COMM_WORLD), most);
        wrong++;
    }
    for (int i = 0; i < communicators; i++) {
        expect(collectives(each[i], i < 10 ? LONG : 100), 0);
    }
    for (int i = 0; i < communicators; i++) {
        MPI_Comm_free(&each[i]);
    }
    expect(mappings("memfd:rustcoll"), mapped);
    expect(descriptors(), opened);
    free(each);
}

/* Makes and frees communicators of all ranks and of some. */
static void test_come_and_go(void)
{
    int rank = rank_in(MPI_COMM_WORLD), opened = 0, mapped = 0;
    for (int i = 0; i < 100; i++) {
        if (1 == i) {
            opened = descriptors();
            mapped = mappings("");
        }
        MPI_Comm half, copy;
        MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, -rank, &half);
        MPI_Comm_dup(half, &copy);
        expect(collectives(half, 3000 + i), 0);
        expect(collectives(copy, 1000), 0);
        MPI_Comm_free(&half);
        expect(collectives(copy, 10), 0);
        MPI_Comm_free(&copy);
    }
    expect(descriptors(), opened);
    /* Open MPI's own mappings grow a little. */
    expect(mappings("") < mapped + 10, 1);
}

/* Tests an inter-communicator of two jobs, and the intra-communicator that they merge to. */
static void test_two_jobs(char *program)
{
    MPI_Comm other, all;
    char *arguments[] = {"two jobs", NULL};
    MPI_Comm_get_parent(&other);
    int is_child = MPI_COMM_NULL != other, sum = 1, result = 0, size;
    if (!is_child) {
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_remote_size(other, &size);
    int mapped = mappings("memfd:rustcoll");
    MPI_Allreduce(&sum, &result, 1, MPI_INT, MPI_SUM, other);
    expect(result, size);
    expect(mappings("memfd:rustcoll"), mapped);
    MPI_Intercomm_merge(other, is_child, &all);
    expect(collectives(all, 3000), 0);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
}

static void add(void *left, void *right, int *count, MPI_Datatype *datatype)
{
    (void) datatype;
    for (int i = 0; i < *count; i++) {
        ((int *) right)[i] += ((int *) left)[i];
    }
}

/* Tests non-blocking and persistent calls, and calls with an operator of the user. */
static void test_forms(void)
{
    enum { COUNT = 3000 };
    static int vector[COUNT], result[COUNT];
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), summand = size * (size - 1) / 2;
    MPI_Request request;
    MPI_Op own;
    MPI_Op_create(add, 1, &own);
    fill(vector, COUNT, rank);
    for (int i = 0; i < 3; i++) {
        memset(result, 0, sizeof result);
        MPI_Iallreduce(vector, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(differences(result, COUNT, size, summand), 0);
        memset(result, 0, sizeof result);
        MPI_Allreduce(vector, result, COUNT, MPI_INT, own, MPI_COMM_WORLD);
        expect(differences(result, COUNT, size, summand), 0);
        memset(result, 0, sizeof result);
        MPIX_Allreduce_init(vector, result, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(differences(result, COUNT, size, summand), 0);
        MPI_Request_free(&request);
        expect(collectives(MPI_COMM_WORLD, COUNT), 0);
    }
    MPI_Op_free(&own);
}

/* Starts ten persistent operations together on a communicator with places for eight. Then makes further ones,
 * among which each rank frees one of the first ten at another moment. */
static void test_persistent(void)
{
    enum { COUNT = 300, AT_ONCE = 10, LATER = 20 };
    static int vector[COUNT], results[AT_ONCE][COUNT];
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), summand = size * (size - 1) / 2;
    MPI_Request requests[AT_ONCE];
    fill(vector, COUNT, rank);
    for (int i = 0; i < AT_ONCE; i++) {
        MPIX_Allreduce_init(vector, results[i], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    }
    for (int start = 0; start < 3; start++) {
        memset(results, 0, sizeof results);
        /* Each rank starts them in another order. */
        for (int i = 0; i < AT_ONCE; i++) {
            MPI_Start(&requests[(i * 3 + rank) % AT_ONCE]);
        }
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++) {
            expect(differences(results[i], COUNT, size, summand), 0);
        }
    }
    for (int i = 0; i < LATER; i++) {
        MPI_Request later;
        if (i == rank) {
            MPI_Request_free(&requests[0]);
        }
        memset(results, 0, sizeof results);
        MPIX_Allreduce_init(vector, results[0], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &later);
        MPI_Start(&later);
        MPI_Wait(&later, MPI_STATUS_IGNORE);
        expect(differences(results[0], COUNT, size, summand), 0);
        MPI_Request_free(&later);
    }
    for (int i = 1; i < AT_ONCE; i++) {
        MPI_Request_free(&requests[i]);
    }
}

struct odd {
    char letter;
    double number;
    short tail;
};

/* Elements with gaps. No piece of shared memory is a multiple of their size. */
static void test_gaps(void)
{
    enum { COUNT = 5000 };
    int lengths[] = {1, 1, 1}, rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Aint places[] = {offsetof(struct odd, letter), offsetof(struct odd, number), offsetof(struct odd, tail)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, plain, odd;
    struct odd *sent = calloc(COUNT, sizeof *sent);
    struct odd *received = calloc((size_t) COUNT * (size_t) size, sizeof *received);
    MPI_Type_create_struct(3, lengths, places, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct odd), &odd);
    MPI_Type_commit(&odd);
    for (int i = 0; i < COUNT; i++) {
        sent[i] = (struct odd){(char) (i + rank), i * 1.25 + rank, (short) (i - rank)};
    }
    MPI_Allgather(sent, COUNT, odd, received, COUNT, odd, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT * size; i++) {
        struct odd one = received[i];
        int place = i % COUNT, from = i / COUNT;
        expect(one.letter == (char) (place + from) && one.number == place * 1.25 + from
                   && one.tail == (short) (place - from), 1);
    }
    MPI_Bcast(sent, COUNT, odd, size - 1, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        expect(sent[i].letter == (char) (i + size - 1) && sent[i].number == i * 1.25 + size - 1
                   && sent[i].tail == (short) (i - size + 1), 1);
    }
    MPI_Type_free(&odd);
    MPI_Type_free(&plain);
    free(sent);
    free(received);
}

static void *many_collectives(void *communicator)
{
    long differ = 0;
    for (int i = 0; i < 200; i++) {
        differ += collectives(*(MPI_Comm *) communicator, 10 + 50 * (i % 20));
    }
    return (void *) differ;
}

/* Runs two threads, each on its own communicator. */
static void test_threads(void)
{
    pthread_t threads[2];
    MPI_Comm communicators[2];
    void *differ;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
        pthread_create(&threads[i], NULL, many_collectives, &communicators[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &differ);
        expect((long) differ, 0);
    }
}

/* The parameter for the size of shared memory changes when one communicator already shares memory. */
static void test_change(void)
{
    int provided, index, number, kibibytes = 64 << 10;
    MPI_T_cvar_handle parameter;
    expect(collectives(MPI_COMM_WORLD, LONG), 0);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    expect(MPI_T_cvar_get_index("coll_rustcoll_shared_memory_size", &index), MPI_SUCCESS);
    expect(MPI_T_cvar_handle_alloc(index, NULL, &parameter, &number), MPI_SUCCESS);
    expect(MPI_T_cvar_write(parameter, &kibibytes), MPI_SUCCESS);
    MPI_Comm later;
    MPI_Comm_dup(MPI_COMM_WORLD, &later);
    expect(collectives(MPI_COMM_WORLD, 20 * LONG), 0);
    expect(collectives(later, 20 * LONG), 0);
    MPI_Comm_free(&later);
    MPI_T_cvar_handle_free(&parameter);
    MPI_T_finalize();
}

/* Repeated calls must notice that a parameter has changed. */
static void test_switch(void)
{
    int provided, index, number, size, rank = rank_in(MPI_COMM_WORLD);
    MPI_T_cvar_handle parameter;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    expect(MPI_T_cvar_get_index("coll_rustcoll_shared_memory", &index), MPI_SUCCESS);
    expect(MPI_T_cvar_handle_alloc(index, NULL, &parameter, &number), MPI_SUCCESS);
    for (int off = 0; off < 4; off++) {
        int value = off % 2, sum = 0;
        expect(MPI_T_cvar_write(parameter, &value), MPI_SUCCESS);
        for (int i = 0; i < 3; i++) {
            const int own = rank + i;
            MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            expect(sum, size * (size - 1) / 2 + size * i);
        }
    }
    MPI_T_cvar_handle_free(&parameter);
    MPI_T_finalize();
}

/* Rank 1 comes late to a collective of a form. */
static void test_late(const char *form)
{
    int rank = rank_in(MPI_COMM_WORLD), last = size_of(MPI_COMM_WORLD) - 1;
    /* The first call allocates shared memory. */
    expect(greater(rank, form, MPI_COMM_WORLD), last);
    if (1 == rank) {
        sleep(2);
    }
    expect(greater(rank, form, MPI_COMM_WORLD), last);
}

int main(int argc, char **argv)
{
    const char *test = argc > 1 ? argv[1] : "";
    int provided;
    MPI_Init_thread(&argc, &argv, 0 == strcmp(test, "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    if (0 == strcmp(test, "die")) {
        test_die();
    } else if (0 == strcmp(test, "lack")) {
        test_lack(argv[2], atoi(argv[3]));
    } else if (0 == strcmp(test, "withhold")) {
        test_withhold(0 == strcmp(argv[2], "late"), atoi(argv[3]));
    } else if (0 == strcmp(test, "messages")) {
        test_messages(argv[2]);
    } else if (0 == strcmp(test, "scatter")) {
        test_scatter();
    } else if (0 == strcmp(test, "mapped")) {
        test_mapped();
    } else if (0 == strcmp(test, "many")) {
        test_many(atoi(argv[2]), atol(argv[3]));
    } else if (0 == strcmp(test, "come and go")) {
        test_come_and_go();
    } else if (0 == strcmp(test, "two jobs")) {
        test_two_jobs(argv[0]);
    } else if (0 == strcmp(test, "persistent")) {
        test_persistent();
    } else if (0 == strcmp(test, "forms")) {
        test_forms();
    } else if (0 == strcmp(test, "gaps")) {
        test_gaps();
    } else if (0 == strcmp(test, "change")) {
        test_change();
    } else if (0 == strcmp(test, "switch")) {
        test_switch();
    } else if (0 == strcmp(test, "threads")) {
        test_threads();
    } else if (0 == strcmp(test, "late")) {
        test_late(argv[2]);
    } else {
        expect(collectives(MPI_COMM_WORLD, LONG), 0);
    }
    return verdict(wrong);
}
