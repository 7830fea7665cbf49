// Lets waiting ranks leave the processor to others. LD_PRELOAD loads it into the ranks.
//
// An emulated cluster has more ranks than the machine has processors, and Open MPI's ranks spin. With
// mpi_yield_when_idle, they call sched_yield() each time they found nothing to do. But ranks that only yield to
// each other still keep all processors busy, and the switch and the kernel's network wait. Here a rank blocks
// instead until one of the descriptors that Open MPI polled last is ready, for at most RUSTCOLL_LAB_IDLE_US
// microseconds: messages within a host come through shared memory, which has no descriptor to wait for.
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 2048
// The kernel checks the size of ppoll()'s signal set even without a set.
#define SIGNAL_SET_BYTES 8

static __thread struct pollfd watched[MOST_DESCRIPTORS];
static __thread nfds_t watched_count;
static __thread int found_something;

static void remember_result(int ready) {
    if (ready > 0) found_something = 1;
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout) {
    int ready = syscall(SYS_poll, descriptors, count, timeout);
    if (timeout == 0 && count <= MOST_DESCRIPTORS) {
        memcpy(watched, descriptors, count * sizeof *descriptors);
        watched_count = count;
        remember_result(ready);
    }
    return ready;
}

// Programs compiled with _FORTIFY_SOURCE call this function instead of poll().
int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout, size_t size) {
    (void)size;
    return poll(descriptors, count, timeout);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
    int ready = syscall(SYS_epoll_pwait, epoll, events, most, timeout, NULL, SIGNAL_SET_BYTES);
    if (timeout == 0) {
        watched[0] = (struct pollfd){.fd = epoll, .events = POLLIN};
        watched_count = 1;
        remember_result(ready);
    }
    return ready;
}

static long longest_wait_in_nanoseconds(void) {
    static long nanoseconds = -1;
    if (nanoseconds < 0) {
        const char *microseconds = getenv("RUSTCOLL_LAB_IDLE_US");
        nanoseconds = microseconds ? 1000 * atol(microseconds) : 0;
        // By default the kernel prolongs short waits by up to 50 microseconds.
        prctl(PR_SET_TIMERSLACK, 1000);
    }
    return nanoseconds;
}

int sched_yield(void) {
    long wait = longest_wait_in_nanoseconds();
    if (found_something) {
        found_something = 0;
        return 0;
    }
    if (watched_count == 0 || wait == 0) return syscall(SYS_sched_yield);
    struct timespec timeout = {wait / 1000000000, wait % 1000000000};
    syscall(SYS_ppoll, watched, watched_count, &timeout, NULL, SIGNAL_SET_BYTES);
    return 0;
}
