/* Buffers on devices, by the drivers of CUDA and HIP. The library is not linked with the drivers. It looks their
 * functions up when the process starts: in the program or, if the node has such a device, in the driver's library. */
#include "interpose.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* Numbers of the drivers: attributes of addresses, their values, and options. */
enum { CUDA_MEMORY_TYPE = 2, CUDA_DEVICE = 2, HIP_HOST_ADDRESS = 4, HIP_ANY_DIRECTION = 4, OF_ALL_CONTEXTS = 1 };

static int (*cuda_attribute)(void *value, int attribute, uintptr_t address);
static int (*cuda_copy)(uintptr_t target, uintptr_t source, size_t bytes);
/* Waits for the copies of this process: CUDA's may return before the data are on the device. */
static int (*cuda_wait)(void *stream);
static int (*hip_attribute)(void *value, int attribute, uintptr_t address);
static int (*hip_copy)(void *target, const void *source, size_t bytes, int direction);
/* From the driver that was found, CUDA's first. */
static int (*register_host)(void *address, size_t bytes, unsigned flags);
static int (*unregister_host)(void *address);

/* Returns a driver's library: the program, if it has the function `known`; or, if the node has the device, a library of
 * one of the names. NULL if there is none. */
static void *driver(const char *known, const char *device, const char *const *names)
{
    if (NULL != dlsym(RTLD_DEFAULT, known)) {
        return RTLD_DEFAULT;
    }
    void *found = NULL;
    for (; 0 == access(device, F_OK) && NULL == found && NULL != *names; names++) {
        found = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
    }
    return found;
}

/* Looks up a function. The address is copied, because it has no function type. */
static void look_up(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

int rustcoll_shim_has_devices(void)
{
    static int is_known;
    if (!is_known) {
        const char *const cuda[] = {"libcuda.so.1", NULL}, *const hip[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                                                       "libamdhip64.so.5", NULL};
        void *library = driver("cuMemcpy", "/dev/nvidiactl", cuda);
        look_up(library, "cuPointerGetAttribute", &cuda_attribute);
        look_up(library, "cuMemcpy", &cuda_copy);
        look_up(library, "cuStreamSynchronize", &cuda_wait);
        look_up(library, "cuMemHostRegister_v2", &register_host);
        look_up(library, "cuMemHostUnregister", &unregister_host);
        library = driver("hipMemcpy", "/dev/kfd", hip);
        look_up(library, "hipPointerGetAttribute", &hip_attribute);
        look_up(library, "hipMemcpy", &hip_copy);
        if (NULL == cuda_copy) {
            look_up(library, "hipHostRegister", &register_host);
            look_up(library, "hipHostUnregister", &unregister_host);
        }
        is_known = 1;
    }
    return (NULL != cuda_attribute && NULL != cuda_copy) || (NULL != hip_attribute && NULL != hip_copy);
}

static int is_of_cuda(const void *address)
{
    unsigned type = 0;
    return NULL != cuda_attribute && NULL != cuda_copy &&
           0 == cuda_attribute(&type, CUDA_MEMORY_TYPE, (uintptr_t) address) && CUDA_DEVICE == type;
}

/* Whether HIP knows an address that no processor can reach. */
static int is_of_hip(const void *address)
{
    void *reached = NULL;
    return NULL != hip_attribute && NULL != hip_copy &&
           0 == hip_attribute(&reached, HIP_HOST_ADDRESS, (uintptr_t) address) && NULL == reached;
}

int rustcoll_shim_is_on_device(const void *address) { return is_of_cuda(address) || is_of_hip(address); }

int rustcoll_shim_register_host(void *address, size_t bytes)
{
    return NULL != register_host && NULL != unregister_host && 0 == register_host(address, bytes, OF_ALL_CONTEXTS);
}

int rustcoll_shim_unregister_host(void *address) { return NULL != unregister_host && 0 == unregister_host(address); }

static int copied_by_cuda(void *target, const void *source, size_t bytes)
{
    const int error = cuda_copy((uintptr_t) target, (uintptr_t) source, bytes);
    return 0 == error && NULL != cuda_wait ? cuda_wait(NULL) : error;
}

int rustcoll_copy_bytes(void *target, const void *source, size_t bytes)
{
    if (is_of_cuda(target) || is_of_cuda(source)) {
        return 0 == copied_by_cuda(target, source, bytes) ? MPI_SUCCESS : RUSTCOLL_ERR_INTERN;
    }
    if (is_of_hip(target) || is_of_hip(source)) {
        return 0 == hip_copy(target, source, bytes, HIP_ANY_DIRECTION) ? MPI_SUCCESS : RUSTCOLL_ERR_INTERN;
    }
    memmove(target, source, bytes);
    return MPI_SUCCESS;
}
