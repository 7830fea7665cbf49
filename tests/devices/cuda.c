/* The functions of CUDA's driver that tell where memory is and copy it, for the memory of memory.c. */

#include "memory.h"

#include <stdint.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, MEMORY_TYPE = 2, ON_A_DEVICE = 2 };

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
