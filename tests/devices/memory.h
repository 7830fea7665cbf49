/* Simulated memory of a device. Access at its addresses ends the process, as a processor's access to a GPU's memory
   would. */
#ifndef DEVICES_MEMORY_H
#define DEVICES_MEMORY_H

#include <stddef.h>

/* Allocates memory. The tests read and write the same memory at *twin. Returns NULL if there is not enough. */
void *device_memory_new(size_t bytes, void **twin);
void device_memory_free(void *address);
/* Whether an address belongs to the device. */
int device_memory_holds(const void *address);
/* Copies between any memory of the device and the host. */
void device_memory_copy(void *target, const void *source, size_t bytes);

#endif
