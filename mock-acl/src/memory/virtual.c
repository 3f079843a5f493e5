/* Reserved addresses and what is mapped into them (guide: memory management, virtual memory).
 *
 * Null pointers, size 0 and flags: 100000 (implementation of the open runtime). What the driver answers there
 * is our own choice: 107000 for ranges that do not fit, 207001 without address space. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/base.h"
#include "devices/devices.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

#define TIB (UINT64_C(1) << 40)

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

static uint64_t rounded(uint64_t n, uint64_t step) { return (n + step - 1) / step * step; }

/* A wanted address is in 16T to 24T, aligned to the smallest power of two that holds the size, to 1 GiB at
 * most (guide: memory management, aclrtReserveMemAddress). */
static bool may_start_at(const void *p, uint64_t size) {
    uint64_t step = MOCK_GRANULARITY;
    while (step < size && step < MOCK_GIB) step *= 2;
    const uint64_t at = (uint64_t)(uintptr_t)p;
    return at % step == 0 && at >= 16 * TIB && at < 24 * TIB && size <= 24 * TIB - at;
}

/* A range is of no device until memory is mapped into it, and needs no context (implementation of the open runtime). */
static aclError reserve(void **out, uint64_t size, void *wanted) {
    const uint64_t bytes = rounded(size, MOCK_GRANULARITY);
    mock_space *s = bytes < size ? NULL : calloc(1, sizeof *s);
    mock_space_bury();
    mock_space_lock();
    bool good = s != NULL && mock_space_reserve(s, wanted, bytes);
    if (good) {
        s->kind = MOCK_SPACE_VIRTUAL;
        *out = s->base;
        mock_gave(*out);
        good = mock_space_add(s);
        if (!good) munmap(s->view, bytes);
        if (!good) munmap(s->base, bytes);
    }
    mock_space_unlock();
    if (good) return 0;
    free(s);
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "no %zu bytes of addresses", (size_t)size);
}

static aclError check_reserve(void **virPtr, size_t size, size_t alignment, uint64_t flags) {
    if (virPtr == NULL || size == 0) return mock_null("virPtr and size");
    if (flags > 1) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flags %zu", (size_t)flags);
    return alignment == 0 ? 0 : wrong("the alignment must be 0");
}

MOCK_EXPORT aclError aclrtReserveMemAddress(
    void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags) {
    MOCK_ENTER(aclrtReserveMemAddress);
    const aclError code = check_reserve(virPtr, size, alignment, flags);
    if (code != 0) return code;
    if (expectPtr != NULL && !may_start_at(expectPtr, size)) return wrong("the wanted address does not fit");
    return reserve(virPtr, size, expectPtr);
}

/* Whole GiB, and the address is the caller's choice, any aligned to 1 GiB (guide: memory management,
 * aclrtReserveMemAddressNoUCMemory, which only advises a range). */
MOCK_EXPORT aclError aclrtReserveMemAddressNoUCMemory(
    void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags) {
    MOCK_ENTER(aclrtReserveMemAddressNoUCMemory);
    const aclError code = check_reserve(virPtr, size, alignment, flags);
    if (code != 0) return code;
    if (size % MOCK_GIB != 0) return wrong("the size is no multiple of 1 GiB");
    if (expectPtr == NULL || (uintptr_t)expectPtr % MOCK_GIB != 0)
        return wrong("an aligned address is needed");
    return reserve(virPtr, size, expectPtr);
}

MOCK_EXPORT aclError aclrtReleaseMemAddress(void *virPtr) {
    MOCK_ENTER_OF(aclrtReleaseMemAddress, virPtr);
    if (virPtr == NULL) return mock_null("virPtr");
    aclError code = 0;
    mock_space_lock();
    mock_space *s = mock_space_at(virPtr);
    if (s == NULL || s->kind != MOCK_SPACE_VIRTUAL || s->base != virPtr)
        code = wrong("not the start of a reserved range");
    else if (s->count != 0) code = wrong("memory is mapped into the range");
    else mock_space_drop(s);
    mock_space_unlock();
    mock_space_bury();
    return code;
}

/* ---- mapping ---- */

/* The index of the piece that starts at the address, or of where one may be put. */
static size_t place_of(const mock_space *s, uint64_t at, uint64_t size, bool *starts, bool *free_here) {
    size_t i = 0, high = s->count;
    while (i < high) {
        const size_t middle = (i + high) / 2;
        if (s->pieces[middle].at >= at) high = middle;
        else i = middle + 1;
    }
    *starts = i < s->count && s->pieces[i].at == at;
    const bool after = i == 0 || s->pieces[i - 1].at + s->pieces[i - 1].size <= at;
    *free_here = after && (i == s->count || s->pieces[i].at - at >= size) && !*starts;
    return i;
}

static mock_piece *piece_from(const void *virPtr, mock_space **space) {
    bool starts = false, unused = false;
    mock_space *s = mock_space_at(virPtr);
    *space = s;
    if (s == NULL || s->kind != MOCK_SPACE_VIRTUAL) return NULL;
    const size_t i = place_of(s, (uint64_t)((const char *)virPtr - s->base), 1, &starts, &unused);
    return starts ? &s->pieces[i] : NULL;
}

/* One device in a range, and not both own and imported memory (guide: memory management, aclrtMapMem). */
static bool fits_others(const mock_space *s, const mock_physical *m) {
    if (s->count == 0) return true;
    const mock_physical *other = s->pieces[0].physical;
    return other->device == m->device && other->imported == m->imported;
}

static aclError check_map(const mock_space *s, uint64_t at, uint64_t size, const mock_physical *m) {
    if (s == NULL || s->kind != MOCK_SPACE_VIRTUAL) return wrong("the address is not in a reserved range");
    if (size != m->size) return wrong("the size is not that of the physical memory");
    if (at % MOCK_GRANULARITY != 0) return wrong("the address is no multiple of the granularity");
    if (at > s->bytes || size > s->bytes - at) return wrong("the memory reaches beyond the reserved range");
    if (!fits_others(s, m)) return wrong("a range holds memory of one device, all own or all imported");
    return 0;
}

static bool map_views(const mock_space *s, uint64_t at, const mock_physical *m) {
    const int both = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (mmap(s->view + at, m->size, both, flags, m->file, (off_t)m->offset) == MAP_FAILED) return false;
    if (m->device != MOCK_HOST_SIDE) return true;
    return mmap(s->base + at, m->size, both, flags, m->file, (off_t)m->offset) != MAP_FAILED;
}

/* Work that still runs meets scratch memory. */
static void unmap_views(const mock_space *s, const mock_piece *p) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    mmap(s->view + p->at, p->size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p->physical->device == MOCK_HOST_SIDE) mmap(s->base + p->at, p->size, PROT_NONE, flags, -1, 0);
}

/* With the lock. The device of the memory has access, for host memory every device (own choice). */
static aclError map(mock_space *s, uint64_t at, uint64_t size, mock_physical *m, bool access) {
    bool starts = false, free_here = false;
    aclError code = check_map(s, at, size, m);
    const size_t i = code == 0 ? place_of(s, at, size, &starts, &free_here) : 0;
    if (code == 0 && !free_here) code = wrong("memory is mapped there already");
    if (code == 0 && s->count == s->room) {
        mock_piece *grown = realloc(s->pieces, (s->room * 2 + 4) * sizeof *grown);
        if (grown != NULL) s->pieces = grown;
        if (grown != NULL) s->room = s->room * 2 + 4;
    }
    if (code == 0 && (s->count == s->room || !map_views(s, at, m)))
        code = mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "the memory cannot be mapped");
    if (code != 0) return code;
    memmove(&s->pieces[i + 1], &s->pieces[i], (s->count - i) * sizeof *s->pieces);
    mock_piece *p = &s->pieces[i];
    *p = (mock_piece){.at = at, .size = size, .physical = m};
    if (access && m->device == MOCK_HOST_SIDE)
        memset(p->access, ACL_RT_MEM_ACCESS_FLAGS_READWRITE, sizeof p->access);
    else if (access) p->access[m->device] = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    s->count++;
    m->mapped++;
    return 0;
}

static aclError map_handle(
    void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags, bool access) {
    if (virPtr == NULL || handle == NULL || size == 0) return mock_null("virPtr, handle and size");
    if (flags != 0) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flags %zu", (size_t)flags);
    if (offset != 0) return wrong("the offset must be 0");
    aclError code = 0;
    mock_space_lock();
    mock_physical *m = mock_physical_find(handle, &code);
    mock_space *s = mock_space_at(virPtr);
    const uint64_t at = s == NULL ? 0 : (uint64_t)((char *)virPtr - s->base);
    if (code == 0) code = map(s, at, size, m, access);
    mock_space_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtMapMem(
    void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
    MOCK_ENTER_OF(aclrtMapMem, virPtr, handle);
    return map_handle(virPtr, size, offset, handle, flags, true);
}

/* As aclrtMapMem, until aclrtMemSetAccess gives access (header: aclrtMemMapNoAccess). */
MOCK_EXPORT aclError aclrtMemMapNoAccess(
    void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
    MOCK_ENTER_OF(aclrtMemMapNoAccess, virPtr, handle);
    return map_handle(virPtr, size, offset, handle, flags, false);
}

/* The memory of one mapping at a second address; link 0 or 1 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtMemMapSelectedLink(
    void *virPtrDst, size_t size, void *virPtrSrc, uint32_t linkIdx) {
    MOCK_ENTER_OF(aclrtMemMapSelectedLink, virPtrDst, virPtrSrc);
    if (virPtrDst == NULL || virPtrSrc == NULL || size == 0) return mock_null("addresses and size");
    if (linkIdx > 1) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "link %u", linkIdx);
    mock_space *from = NULL;
    mock_space_lock();
    const mock_piece *p = piece_from(virPtrSrc, &from);
    mock_space *s = mock_space_at(virPtrDst);
    const uint64_t at = s == NULL ? 0 : (uint64_t)((char *)virPtrDst - s->base);
    const aclError code =
        p == NULL ? wrong("nothing is mapped at the source") : map(s, at, size, p->physical, true);
    mock_space_unlock();
    return code;
}

static void unmap(mock_space *s, mock_piece *p) {
    mock_physical *m = p->physical;
    unmap_views(s, p);
    s->count--;
    memmove(p, p + 1, (size_t)(s->pieces + s->count - p) * sizeof *p);
    m->mapped--;
    mock_physical_settle(m);
}

/* Only at the address that was mapped (guide: memory management, aclrtUnmapMem). */
MOCK_EXPORT aclError aclrtUnmapMem(void *virPtr) {
    MOCK_ENTER_OF(aclrtUnmapMem, virPtr);
    if (virPtr == NULL) return mock_null("virPtr");
    mock_space *s = NULL;
    mock_touch_free("aclrtUnmapMem", virPtr);
    mock_space_lock();
    mock_piece *p = piece_from(virPtr, &s);
    const aclError code = p == NULL ? wrong("nothing is mapped at this address") : 0;
    if (p != NULL) unmap(s, p);
    mock_space_unlock();
    return code;
}

/* A further handle, to be freed as well; at the address that was mapped (guide: memory management,
 * aclrtMemRetainAllocationHandle). */
MOCK_EXPORT aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle) {
    MOCK_ENTER_OF(aclrtMemRetainAllocationHandle, virPtr);
    if (virPtr == NULL || handle == NULL) return mock_null("virPtr and handle");
    mock_space *s = NULL;
    mock_space_lock();
    const mock_piece *p = piece_from(virPtr, &s);
    const aclError code =
        p == NULL ? wrong("nothing is mapped at this address") : mock_physical_hold(p->physical, handle);
    mock_space_unlock();
    return code;
}

/* ---- access ---- */

/* The index in the table of a piece, or -1. */
static int side_of(const aclrtMemLocation *l) {
    if (l->type == ACL_MEM_LOCATION_TYPE_HOST || l->type == ACL_MEM_LOCATION_TYPE_HOST_NUMA)
        return MOCK_HOST_SIDE;
    return l->type == ACL_MEM_LOCATION_TYPE_DEVICE && l->id < mock_device_count() ? (int)l->id : -1;
}

static aclError check_access(const aclrtMemAccessDesc *desc, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int flags = (int)desc[i].flags;
        if (flags != ACL_RT_MEM_ACCESS_FLAGS_NONE && flags != ACL_RT_MEM_ACCESS_FLAGS_READ &&
            flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
            return wrong("access flags other than none, read and read with write");
        if (side_of(&desc[i].location) < 0) return wrong("a place that does not exist");
    }
    return 0;
}

/* Address and size of one mapping (guide: memory management, aclrtMemSetAccess). Everything: 107000
 * (implementation of the open runtime: no check of the outer layer). Reading and writing are not told apart
 * when the memory is used (own choice). */
MOCK_EXPORT aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count) {
    MOCK_ENTER_OF(aclrtMemSetAccess, virPtr);
    if (virPtr == NULL || desc == NULL || size == 0 || count == 0) return wrong("null or zero");
    if (count > SIZE_MAX / sizeof *desc) return wrong("no array is as long");
    aclError code = check_access(desc, count);
    if (code != 0) return code;
    mock_space *s = NULL;
    mock_space_lock();
    mock_piece *p = piece_from(virPtr, &s);
    if (p == NULL || p->size != size) code = wrong("not the address and size of a mapping");
    for (size_t i = 0; i < count && code == 0; i++)
        p->access[side_of(&desc[i].location)] = (uint8_t)desc[i].flags;
    mock_space_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag) {
    MOCK_ENTER_OF(aclrtMemGetAccess, virPtr);
    if (virPtr == NULL || location == NULL || flag == NULL) return mock_null("virPtr, location and flag");
    const int side = side_of(location);
    if (side < 0) return wrong("a place that does not exist");
    mock_space *s = NULL;
    mock_space_lock();
    const mock_piece *p = piece_from(virPtr, &s);
    if (p != NULL) *flag = p->access[side];
    mock_space_unlock();
    return p == NULL ? wrong("nothing is mapped at this address") : 0;
}

void mock_virtual_reset(void) {
    mock_space_lock();
    for (size_t i = mock_space_count(); i-- > 0;) {
        mock_space *s = mock_space_index(i);
        if (s->kind != MOCK_SPACE_VIRTUAL) continue;
        while (s->count != 0) unmap(s, &s->pieces[s->count - 1]);
        mock_space_drop(s);
    }
    mock_space_unlock();
    mock_space_bury();
}
