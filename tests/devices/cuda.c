/* The functions of CUDA's driver that find and copy memory, for the memory of memory.c. */

#include "memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, MEMORY_TYPE = 2, ON_A_DEVICE = 2, MOST_KNOWN = 1024 };

int cuPointerGetAttribute(void *value, int attribute, uintptr_t address)
{
    if (MEMORY_TYPE != attribute || !device_memory_holds((const void *) address)) {
        return INVALID_VALUE;
    }
    *(unsigned *) value = ON_A_DEVICE;
    return SUCCESS;
}

int cuMemcpy(uintptr_t target, uintptr_t source, size_t bytes)
{
    device_memory_copy((void *) target, (const void *) source, bytes);
    return SUCCESS;
}

/* The host memory that the driver has registered. Freeing such memory before it is unregistered is an error with late
 * effects, because the driver goes on to use the missing pages. Here the program ends as soon as other memory at the
 * same address is registered. */
static struct {
    uintptr_t start;
    size_t bytes;
} known[MOST_KNOWN];
static int number_known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what)
{
    fprintf(stderr, "memory of the host: %s\n", what);
    abort();
}

int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    uintptr_t start = (uintptr_t) address;
    (void) flags;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < number_known; i++) {
        if (start < known[i].start + known[i].bytes && known[i].start < start + bytes) {
            fail("is known already");
        }
    }
    if (MOST_KNOWN == number_known) {
        fail("far too much of it is known");
    }
    known[number_known].start = start;
    known[number_known++].bytes = bytes;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

int cuMemHostUnregister(void *address)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < number_known && known[i].start != (uintptr_t) address) {
        i++;
    }
    if (i == number_known) {
        fail("is not known, and shall be forgotten");
    }
    known[i] = known[--number_known];
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}
