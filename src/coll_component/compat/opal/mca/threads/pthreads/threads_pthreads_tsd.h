/* Stands in for a header of Open MPI 5 and 6 that distributions leave out: data of a thread's own, of which other headers
 * name the key's type. */
#ifndef RUSTCOLL_COMPAT_THREADS_TSD_H
#define RUSTCOLL_COMPAT_THREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

#endif
