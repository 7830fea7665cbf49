/* Stands in for a header of Open MPI 5 and 6 that distributions leave out of their development packages: locks, by POSIX
 * threads. Its own header, where there is one, is found first. */
#ifndef RUSTCOLL_COMPAT_THREADS_MUTEX_H
#define RUSTCOLL_COMPAT_THREADS_MUTEX_H

#include <pthread.h>

#include "opal/constants.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_RECURSIVE_MUTEX_INITIALIZER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#define opal_thread_internal_mutex_init(mutex, is_recursive) pthread_mutex_init(mutex, NULL)
#define opal_thread_internal_mutex_lock(mutex) pthread_mutex_lock(mutex)
#define opal_thread_internal_mutex_trylock(mutex) (0 != pthread_mutex_trylock(mutex))
#define opal_thread_internal_mutex_unlock(mutex) pthread_mutex_unlock(mutex)
#define opal_thread_internal_mutex_destroy(mutex) pthread_mutex_destroy(mutex)

typedef pthread_cond_t opal_thread_internal_cond_t;
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER PTHREAD_COND_INITIALIZER
#define opal_thread_internal_cond_init(condition) (pthread_cond_init(condition, NULL) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS)
#define opal_thread_internal_cond_wait(condition, mutex) pthread_cond_wait(condition, mutex)
#define opal_thread_internal_cond_signal(condition) pthread_cond_signal(condition)
#define opal_thread_internal_cond_broadcast(condition) pthread_cond_broadcast(condition)
#define opal_thread_internal_cond_destroy(condition) pthread_cond_destroy(condition)

#endif
