/* A component of Open MPI's accelerator framework. Its device is the memory of memory.c. */

#include "opal_config.h"

#include "memory.h"

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"

static int check_address(const void *address, int *device, uint64_t *flags)
{
    *device = 0;
    *flags = 0;
    return device_memory_holds(address);
}

static int copy(int target_device, int source_device, void *target, const void *source, size_t bytes,
                opal_accelerator_transfer_type_t direction)
{
    device_memory_copy(target, source, bytes);
    return OPAL_SUCCESS;
}

static int copy_later(int target_device, int source_device, void *target, const void *source, size_t bytes,
                      opal_accelerator_stream_t *stream, opal_accelerator_transfer_type_t direction)
{
    return copy(target_device, source_device, target, source, bytes, direction);
}

static int get_device(int *device)
{
    *device = 0;
    return OPAL_SUCCESS;
}

static int register_host(int device, void *address, size_t bytes) { return OPAL_SUCCESS; }
static int unregister_host(int device, void *address) { return OPAL_SUCCESS; }

static int get_buffer(int device, const void *address, opal_accelerator_buffer_id_t *buffer)
{
    *buffer = (opal_accelerator_buffer_id_t) (uintptr_t) address;
    return OPAL_SUCCESS;
}


#if OPAL_MAJOR_VERSION >= 6
static bool has_no_ipc(void) { return false; }
static void get_kinds(ompi_memkind_t *kind) { *kind = (ompi_memkind_t) {.im_name = "stand_in", .im_no_restrictors = true}; }
static int count_devices(int *number)
{
    *number = 1;
    return OPAL_SUCCESS;
}
#endif

/* For everything else that Open MPI may want of a device, with any arguments. */
static int is_not_there(void) { return OPAL_ERR_NOT_SUPPORTED; }
#define NOT_THERE (void *) is_not_there

static opal_accelerator_base_module_t module = {
    .check_addr = check_address,
    .create_stream = NOT_THERE,
    .create_event = NOT_THERE,
    .record_event = NOT_THERE,
    .query_event = NOT_THERE,
    .mem_copy_async = copy_later,
    .mem_copy = copy,
    .mem_move = copy,
    .mem_alloc = NOT_THERE,
    .mem_release = NOT_THERE,
    .get_address_range = NOT_THERE,
    .host_register = register_host,
    .host_unregister = unregister_host,
    .get_device = get_device,
    .get_device_pci_attr = NOT_THERE,
    .device_can_access_peer = NOT_THERE,
    .get_buffer_id = get_buffer,
#if OPAL_MAJOR_VERSION >= 6
    .sync_stream = NOT_THERE,
    .wait_event = NOT_THERE,
    .mem_move_async = copy_later,
    .mem_alloc_stream = NOT_THERE,
    .mem_release_stream = NOT_THERE,
    .is_ipc_enabled = has_no_ipc,
    .get_ipc_handle = NOT_THERE,
    .import_ipc_handle = NOT_THERE,
    .open_ipc_handle = NOT_THERE,
    .compare_ipc_handles = NOT_THERE,
    .get_ipc_event_handle = NOT_THERE,
    .import_ipc_event_handle = NOT_THERE,
    .open_ipc_event_handle = NOT_THERE,
    .num_devices = count_devices,
    .get_mem_bw = NOT_THERE,
    .get_memkind = get_kinds,
#endif
};

static opal_accelerator_base_module_t *start(void) { return &module; }
static void finish(opal_accelerator_base_module_t *started) {}

opal_accelerator_base_component_t mca_accelerator_stand_in_component = {
    .base_version = {
        OPAL_ACCELERATOR_BASE_VERSION_1_0_0,
        .mca_component_name = "stand_in",
        .mca_component_major_version = 1,
    },
    .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .accelerator_init = start,
    .accelerator_finalize = finish,
};
