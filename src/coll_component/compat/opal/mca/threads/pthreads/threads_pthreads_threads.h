/* Stands in for a header of Open MPI 5 and 6 that distributions leave out of their development packages: how a thread
 * gives way is what the library's variable says. */
#ifndef RUSTCOLL_COMPAT_THREADS_THREADS_H
#define RUSTCOLL_COMPAT_THREADS_THREADS_H

#include "opal/mca/threads/threads.h"

extern void (*opal_threads_pthreads_yield_fn)(void);

static inline void opal_thread_yield(void) { opal_threads_pthreads_yield_fn(); }

#endif
