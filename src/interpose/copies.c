/* Copies between data that may have gaps. Packed data are the bytes of the basic elements one after the other; so every
 * MPI packs if all processors are alike. */

#include "interpose.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Bytes packed at a time, or one element if that has more. */
enum { AT_A_TIME = 64 << 10 };

static const char *element(const void *base, const rustcoll_datatype *type, size_t index)
{
    return (const char *) base + (ptrdiff_t) index * type->extent;
}

static size_t elements_at_a_time(const rustcoll_datatype *type)
{
    return type->size >= AT_A_TIME ? 1 : AT_A_TIME / type->size;
}

static int pack_elements(const void *base, const rustcoll_datatype *type, size_t first, size_t count, void *packed)
{
    const void *data = element(base, type, first);
    const MPI_Datatype datatype = RUSTCOLL_DATATYPE(type->handle);
    const size_t bytes = count * type->size;
#if MPI_VERSION >= 4
    if (rustcoll_has_large_counts()) {
        MPI_Count position = 0;
        return PMPI_Pack_c(data, (MPI_Count) count, datatype, packed, (MPI_Count) bytes, &position, MPI_COMM_SELF);
    }
#endif
    int position = 0;
    return bytes > INT_MAX ? RUSTCOLL_ERR_COUNT
                           : PMPI_Pack(data, (int) count, datatype, packed, (int) bytes, &position, MPI_COMM_SELF);
}

static int unpack_elements(const void *packed, const rustcoll_datatype *type, void *base, size_t first, size_t count)
{
    void *data = (char *) element(base, type, first);
    const MPI_Datatype datatype = RUSTCOLL_DATATYPE(type->handle);
    const size_t bytes = count * type->size;
#if MPI_VERSION >= 4
    if (rustcoll_has_large_counts()) {
        MPI_Count position = 0;
        return PMPI_Unpack_c(packed, (MPI_Count) bytes, &position, data, (MPI_Count) count, datatype, MPI_COMM_SELF);
    }
#endif
    int position = 0;
    return bytes > INT_MAX ? RUSTCOLL_ERR_COUNT
                           : PMPI_Unpack(packed, (int) bytes, &position, data, (int) count, datatype, MPI_COMM_SELF);
}

/* `bytes` bytes of data, in the elements from `first` to before `past`. `begun` bytes of the first element come before. */
typedef struct window {
    size_t first, past, begun, bytes;
} window;

/* Returns the bytes from `position` on, up to `end`, but no more than can be packed at a time. */
static window next_window(const rustcoll_datatype *type, size_t position, size_t end)
{
    window next;
    next.first = position / type->size;
    next.begun = position % type->size;
    size_t limit = (next.first + elements_at_a_time(type)) * type->size;
    size_t stop = limit < end ? limit : end;
    next.bytes = stop - position;
    next.past = (stop + type->size - 1) / type->size;
    return next;
}

/* Packs a window. If that does not begin and end between elements, packs whole elements to `whole` first. */
static int pack_window(const void *source, const rustcoll_datatype *type, window part, void *packed, char *whole)
{
    const size_t count = part.past - part.first;
    if (0 == part.begun && part.bytes == count * type->size) {
        return pack_elements(source, type, part.first, count, packed);
    }
    int error = pack_elements(source, type, part.first, count, whole);
    memcpy(packed, whole + part.begun, part.bytes);
    return error;
}

static int unpack_window(const void *packed, const rustcoll_datatype *type, void *target, window part, char *whole)
{
    const size_t count = part.past - part.first;
    if (0 == part.begun && part.bytes == count * type->size) {
        return unpack_elements(packed, type, target, part.first, count);
    }
    int error = pack_elements(target, type, part.first, count, whole);
    if (MPI_SUCCESS == error) {
        memcpy(whole + part.begun, packed, part.bytes);
        error = unpack_elements(whole, type, target, part.first, count);
    }
    return error;
}

static int pack(const void *source, const rustcoll_datatype *type, size_t first, size_t bytes, void *packed)
{
    if (0 == bytes) {
        return MPI_SUCCESS;
    }
    char *whole = malloc(elements_at_a_time(type) * type->size);
    int error = NULL == whole ? RUSTCOLL_ERR_NO_MEM : MPI_SUCCESS;
    for (size_t position = first; position < first + bytes && MPI_SUCCESS == error;) {
        const window part = next_window(type, position, first + bytes);
        error = pack_window(source, type, part, (char *) packed + (position - first), whole);
        position += part.bytes;
    }
    free(whole);
    return error;
}

int rustcoll_unpack(const void *packed, size_t bytes, void *target, const rustcoll_datatype *type, size_t first)
{
    if (0 == bytes) {
        return MPI_SUCCESS;
    }
    char *whole = malloc(elements_at_a_time(type) * type->size);
    int error = NULL == whole ? RUSTCOLL_ERR_NO_MEM : MPI_SUCCESS;
    for (size_t position = first; position < first + bytes && MPI_SUCCESS == error;) {
        const window part = next_window(type, position, first + bytes);
        error = unpack_window((const char *) packed + (position - first), type, target, part, whole);
        position += part.bytes;
    }
    free(whole);
    return error;
}

int rustcoll_shim_pack(const void *source, const void *datatype, size_t first, size_t bytes, void *packed)
{
    rustcoll_datatype type;
    rustcoll_shim_describe(datatype, &type);
    return pack(source, &type, first, bytes, packed);
}

int rustcoll_shim_unpack(const void *packed, size_t bytes, void *target, const void *datatype, size_t first)
{
    rustcoll_datatype type;
    rustcoll_shim_describe(datatype, &type);
    return rustcoll_unpack(packed, bytes, target, &type, first);
}

int rustcoll_shim_copy(const void *source, size_t source_count, const void *source_datatype, void *target,
                       size_t target_count, const void *target_datatype)
{
    rustcoll_datatype from, to;
    rustcoll_shim_describe(source_datatype, &from);
    rustcoll_shim_describe(target_datatype, &to);
    const size_t bytes = source_count * from.size;
    if (0 == bytes) {
        return MPI_SUCCESS;
    }
    if (from.contiguous && to.contiguous) {
        return rustcoll_copy_bytes((char *) target + to.true_lb, (const char *) source + from.true_lb, bytes);
    }
    if (from.contiguous) {
        return rustcoll_unpack((const char *) source + from.true_lb, bytes, target, &to, 0);
    }
    if (to.contiguous) {
        return pack(source, &from, 0, bytes, (char *) target + to.true_lb);
    }
    const size_t most = elements_at_a_time(&from) * from.size;
    char *packed = malloc(most);
    int error = NULL == packed ? RUSTCOLL_ERR_NO_MEM : MPI_SUCCESS;
    for (size_t position = 0; position < bytes && MPI_SUCCESS == error; position += most) {
        const size_t some = bytes - position < most ? bytes - position : most;
        error = pack(source, &from, position, some, packed);
        if (MPI_SUCCESS == error) {
            error = rustcoll_unpack(packed, some, target, &to, position);
        }
    }
    free(packed);
    return error;
}

int rustcoll_copy_elements(const void *elements, size_t count, MPI_Datatype datatype, void **memory, void **copy)
{
    rustcoll_datatype type;
    rustcoll_shim_describe(RUSTCOLL_OPAQUE(datatype), &type);
    const ptrdiff_t last = 0 == count ? 0 : (ptrdiff_t) (count - 1) * type.extent, lowest = (last < 0 ? last : 0) + type.true_lb;
    *memory = malloc((size_t) (last < 0 ? -last : last) + type.true_extent + 1);
    *copy = (char *) *memory - lowest;
    return NULL == *memory ? RUSTCOLL_ERR_NO_MEM
                           : rustcoll_shim_copy(elements, count, type.handle, *copy, count, type.handle);
}
