#define _GNU_SOURCE

#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The same pages at two addresses: the device's, without access rights, and the twin for reading and writing. */
typedef struct region {
    char *address, *twin;
    size_t bytes;
    struct region *next;
} region;

static region *regions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *map(int file, size_t bytes, int rights)
{
    void *address = mmap(NULL, bytes, rights, MAP_SHARED, file, 0);
    return MAP_FAILED == address ? NULL : address;
}

void *device_memory_new(size_t bytes, void **twin)
{
    region *added = malloc(sizeof *added);
    int file = memfd_create("device", 0);
    if (NULL == added || 0 > file || 0 != ftruncate(file, (off_t) bytes)) {
        return NULL;
    }
    added->bytes = bytes;
    added->address = map(file, bytes, PROT_NONE);
    added->twin = map(file, bytes, PROT_READ | PROT_WRITE);
    close(file);
    if (NULL == added->address || NULL == added->twin) {
        return NULL;
    }
    pthread_mutex_lock(&lock);
    added->next = regions;
    regions = added;
    pthread_mutex_unlock(&lock);
    *twin = added->twin;
    return added->address;
}

void device_memory_free(void *address)
{
    pthread_mutex_lock(&lock);
    region **place = &regions;
    while ((*place)->address != address) {
        place = &(*place)->next;
    }
    region *freed = *place;
    *place = freed->next;
    pthread_mutex_unlock(&lock);
    munmap(freed->address, freed->bytes);
    munmap(freed->twin, freed->bytes);
    free(freed);
}

/* Returns the address at which the program can access the memory. */
static char *touchable(const void *address)
{
    char *found = (char *) address;
    pthread_mutex_lock(&lock);
    for (const region *one = regions; NULL != one; one = one->next) {
        if ((char *) address >= one->address && (char *) address < one->address + one->bytes) {
            found = one->twin + ((char *) address - one->address);
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int device_memory_holds(const void *address) { return touchable(address) != (const char *) address; }

void device_memory_copy(void *target, const void *source, size_t bytes)
{
    memmove(touchable(target), touchable(source), bytes);
}
