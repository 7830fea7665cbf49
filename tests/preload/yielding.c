/* Preloaded into an MPI whose processes wait without letting others run (Debian's MPICH over UCX). With fewer
 * processors than processes, they would wait for each other. */

#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    if (0 == progress) {
        progress = (unsigned (*)(void *)) dlsym(RTLD_NEXT, "ucp_worker_progress");
    }
    const unsigned events = progress(worker);
    if (0 == events) {
        sched_yield();
    }
    return events;
}
