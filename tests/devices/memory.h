/* Memory of a device that is none: whoever touches it at its addresses ends, as a processor does that touches a GPU's. */
#ifndef DEVICES_MEMORY_H
#define DEVICES_MEMORY_H

#include <stddef.h>

/* Memory for so many bytes; the same memory stands at *twin, where the tests read and write it. NULL if there is none. */
void *device_memory_new(size_t bytes, void **twin);
void device_memory_free(void *address);
/* Whether an address is one of the device's. */
int device_memory_holds(const void *address);
/* Copies from and to memory of the device or of the host. */
void device_memory_copy(void *target, const void *source, size_t bytes);

#endif
