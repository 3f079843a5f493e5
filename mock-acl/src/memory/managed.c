/* Managed memory: addresses that host and devices share (guide: memory management, unified virtual memory).
 *
 * The host reaches it as plain memory, and nothing migrates (own choice: a CPU has one memory). Advice and
 * the last prefetch are kept for every 2 MiB and given back when asked. Null arguments, flags and sizes of 0
 * that the outer layer sees: 100000 (implementation of the open runtime); the rest 107000 (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

#define PAGE MOCK_GRANULARITY
#define FIRST UINT64_C(0x90000000000)
#define MOST (UINT64_C(3) << 40)
#define NOWHERE (-2) /* no location, or not the same everywhere (own choice) */
#define ON_HOST (-1)

typedef struct advice {
    bool read_mostly;
    int32_t type, id;           /* preferred location */
    int32_t last_type, last_id; /* of the last prefetch */
    uint32_t readers;           /* accessed by: a bit for each device, the last one for the host */
} advice;

/* Memory that the program held over a reset, with the space lock. */
typedef struct held {
    char *base;
    uint64_t bytes;
    struct held *next;
} held;
static held *aside;

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

/* In the documented range, behind what is there; elsewhere when it is full or taken by a sanitizer. */
static void *map(uint64_t bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, both = PROT_READ | PROT_WRITE;
    uint64_t at = FIRST;
    mock_space_lock();
    for (size_t i = 0; i < mock_space_count(); i++) {
        const mock_space *s = mock_space_index(i);
        const uint64_t base = (uint64_t)(uintptr_t)s->base;
        if (s->kind == MOCK_SPACE_MANAGED && base >= at && base - at < bytes) at = base + s->bytes;
    }
    /* Not sorted: at the end of all of them. */
    for (const held *h = aside; h != NULL; h = h->next) {
        const uint64_t end = (uint64_t)(uintptr_t)h->base + h->bytes;
        if (end > at && end - FIRST <= MOST) at = end;
    }
    mock_space_unlock();
    void *wanted = (void *)(uintptr_t)at;
    if (at <= FIRST + MOST - bytes) {
        mock_space_clear(wanted, bytes);
        void *p = mmap(wanted, bytes, both, flags, -1, 0);
        if (p == wanted) return p;
        if (p != MAP_FAILED) munmap(p, bytes);
    }
    char *p = mmap(NULL, bytes + PAGE, both, flags, -1, 0);
    if (p == MAP_FAILED) return NULL;
    const uint64_t before = (PAGE - (uintptr_t)p % PAGE) % PAGE;
    if (before != 0) munmap(p, before);
    if (before != PAGE) munmap(p + before + bytes, PAGE - before);
    return p + before;
}

static advice *new_advice(uint64_t pages) {
    advice *a = calloc(pages, sizeof *a);
    for (uint64_t i = 0; a != NULL && i < pages; i++) a[i].id = a[i].last_id = NOWHERE;
    return a;
}

/* Rounded up to 2 MiB (guide: memory management, aclrtMemAllocManaged). */
MOCK_EXPORT aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag) {
    MOCK_ENTER(aclrtMemAllocManaged);
    if (ptr == NULL) return mock_null("ptr");
    if (flag != ACL_RT_MEM_ATTACH_GLOBAL)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flag %u", flag);
    if (size == 0 || size > MOST) return wrong("the size is 0 or above 3 TiB");
    if (mock_current_device() < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    const uint64_t bytes = (size + PAGE - 1) / PAGE * PAGE;
    mock_space *s = calloc(1, sizeof *s);
    advice *pages = new_advice(bytes / PAGE);
    mock_space_bury();
    void *p = s == NULL || pages == NULL ? NULL : map(bytes);
    bool good = p != NULL;
    if (good) {
        *s = (mock_space){.base = p, .view = p, .bytes = bytes, .size = bytes, .kind = MOCK_SPACE_MANAGED,
            .open = true, .data = pages};
        mock_space_lock();
        good = mock_space_add(s);
        mock_space_unlock();
        if (!good) munmap(p, bytes);
    }
    if (good) {
        *ptr = p;
        mock_gave(p);
        return 0;
    }
    free(s);
    free(pages);
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "no %zu bytes of addresses", (size_t)size);
}

/* With the space lock: what was held over a reset goes at once, since nothing of the mock names it. */
static bool free_aside(const void *p) {
    for (held **at = &aside; *at != NULL; at = &(*at)->next) {
        held *h = *at;
        if (h->base != p) continue;
        *at = h->next;
        munmap(h->base, h->bytes);
        free(h);
        return true;
    }
    return false;
}

bool mock_managed_free(void *p) {
    mock_space_lock();
    mock_space *s = mock_space_at(p);
    const bool good = s != NULL && s->kind == MOCK_SPACE_MANAGED && s->base == p;
    if (good) {
        free(s->data);
        mock_space_drop(s);
    }
    const bool was_aside = !good && free_aside(p);
    mock_space_unlock();
    if (good) mock_space_bury();
    return good || was_aside;
}

/* What the program still holds stays mapped, for nobody else: it may be in use as plain memory (own choice).
 * Without memory for the note it stays so for good. */
void mock_managed_reset(void) {
    mock_space_lock();
    for (size_t i = mock_space_count(); i-- > 0;) {
        mock_space *s = mock_space_index(i);
        if (s->kind != MOCK_SPACE_MANAGED) continue;
        held *h = malloc(sizeof *h);
        if (h != NULL) {
            *h = (held){s->base, s->bytes, aside};
            aside = h;
        }
        free(s->data);
        mock_space_forget(s);
    }
    mock_space_unlock();
}

/* ---- advice ---- */

/* With the space lock: the pages of a range inside one allocation. */
static advice *pages_of(const void *ptr, uint64_t size, uint64_t *count) {
    const mock_space *s = mock_space_at(ptr);
    if (s == NULL || s->kind != MOCK_SPACE_MANAGED) return NULL;
    const uint64_t at = (uint64_t)((const char *)ptr - s->base);
    if (size > s->bytes - at) return NULL;
    *count = (at % PAGE + size + PAGE - 1) / PAGE;
    return (advice *)s->data + at / PAGE;
}

static bool good_place(const aclrtMemManagedLocation *l) {
    if (l->type == ACL_MEM_LOCATIONTYPE_DEVICE) return l->id >= 0 && l->id < (int32_t)mock_device_count();
    if (l->type == ACL_MEM_LOCATIONTYPE_HOST_NUMA) return l->id >= 0;
    return l->type == ACL_MEM_LOCATIONTYPE_HOST || l->type == ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT;
}

static int32_t id_of(const aclrtMemManagedLocation *l) {
    const bool numbered =
        l->type == ACL_MEM_LOCATIONTYPE_DEVICE || l->type == ACL_MEM_LOCATIONTYPE_HOST_NUMA;
    return numbered ? l->id : ON_HOST;
}

static void apply(advice *a, aclrtMemManagedAdviseType advise, const aclrtMemManagedLocation *l) {
    const uint32_t bit = UINT32_C(1) << (l->type == ACL_MEM_LOCATIONTYPE_DEVICE ? l->id & 15 : 31);
    if (advise <= ACL_MEM_ADVISE_UNSET_READ_MOSTLY) {
        a->read_mostly = advise == ACL_MEM_ADVISE_SET_READ_MOSTLY;
    } else if (advise == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION) {
        a->type = (int32_t)l->type;
        a->id = id_of(l);
    } else if (advise == ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION) {
        a->type = ACL_MEM_LOCATIONTYPE_INVALID;
        a->id = NOWHERE;
    } else if (advise == ACL_MEM_ADVISE_SET_ACCESSED_BY) {
        a->readers |= bit;
    } else {
        a->readers &= ~bit;
    }
}

/* A size of whole 2 MiB (guide: memory management, aclrtMemManagedAdvise). The location counts where the
 * advice has one: a preferred location that is set, and readers. */
MOCK_EXPORT aclError aclrtMemManagedAdvise(
    const void *const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
    aclrtMemManagedLocation location) {
    MOCK_ENTER_OF(aclrtMemManagedAdvise, ptr);
    if (ptr == NULL || size == 0) return mock_null("ptr and size");
    if ((int)advise < 0 || advise > ACL_MEM_ADVISE_UNSET_ACCESSED_BY) return wrong("unknown advice");
    const bool placed =
        advise >= ACL_MEM_ADVISE_SET_PREFERRED_LOCATION && advise != ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    if (size % PAGE != 0) return wrong("the size is no multiple of 2 MiB");
    if (placed && !good_place(&location)) return wrong("a location that does not exist");
    uint64_t count = 0;
    mock_space_lock();
    advice *a = pages_of(ptr, size, &count);
    for (uint64_t i = 0; a != NULL && i < count; i++) apply(&a[i], advise, &location);
    mock_space_unlock();
    return a == NULL ? wrong("not inside managed memory") : 0;
}

/* ---- prefetch ---- */

static aclError run_prefetch(void *arg) {
    const mock_migration *m = arg;
    uint64_t count = 0;
    mock_space_lock();
    advice *a = pages_of(m->address, m->size, &count);
    for (uint64_t i = 0; a != NULL && i < count; i++) {
        a[i].last_type = m->type;
        a[i].last_id = m->id;
    }
    mock_space_unlock();
    return a == NULL ? ACL_ERROR_RT_DEVICE_MEM_ERROR : 0;
}

static const mock_task_ops prefetch_ops = {"aclrtMemManagedPrefetchAsync", run_prefetch, NULL};

static aclError prefetch(const void *ptr, size_t size, const aclrtMemManagedLocation *l, aclrtStream stream) {
    if (ptr == NULL || size == 0) return mock_null("ptr and size");
    if (size % PAGE != 0) return wrong("the size is no multiple of 2 MiB");
    if (!good_place(l)) return wrong("a location that does not exist");
    uint64_t count = 0;
    mock_space_lock();
    const advice *a = pages_of(ptr, size, &count);
    mock_space_unlock();
    if (a == NULL) return wrong("not inside managed memory");
    mock_task t = {.ops = &prefetch_ops, .kind = MOCK_TASK_WORK};
    t.u.migration = (mock_migration){ptr, size, (int32_t)l->type, id_of(l)};
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = mock_submit(s, &t);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtMemManagedPrefetchAsync(
    const void *ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemManagedPrefetchAsync, ptr, stream);
    if (ptr == NULL || size == 0) return mock_null("ptr and size");
    if (flags != 0) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flags %u", flags);
    return prefetch(ptr, size, &location, stream);
}

/* Indexes start at 0 and rise (header: as those of aclrtMemcpyBatch; own choice). */
MOCK_EXPORT aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *sizes, size_t count,
    aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags,
    aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemManagedPrefetchBatchAsync, stream);
    if (ptrs == NULL || sizes == NULL || prefetchLocs == NULL || prefetchLocIdxs == NULL || count == 0 ||
        numPrefetchLocs == 0)
        return mock_null("arrays and their lengths");
    if (flags != 0) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flags %zu", (size_t)flags);
    if (count < numPrefetchLocs)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%zu locations, %zu ranges",
            numPrefetchLocs, count);
    for (size_t i = 0; i < numPrefetchLocs; i++) {
        const bool rising = i == 0 ? prefetchLocIdxs[0] == 0 : prefetchLocIdxs[i] > prefetchLocIdxs[i - 1];
        if (!rising || prefetchLocIdxs[i] >= count) return wrong("prefetchLocIdxs must start at 0 and rise");
    }
    aclError code = 0;
    for (size_t i = 0, l = 0; i < count && code == 0; i++) {
        if (l + 1 < numPrefetchLocs && prefetchLocIdxs[l + 1] == i) l++;
        code = prefetch(ptrs[i], sizes[i], &prefetchLocs[l], stream);
    }
    return code;
}

/* ---- attributes ---- */

/* The value of one page; those of a range are one answer when all agree. */
static int32_t value_of(const advice *a, int attribute) {
    switch (attribute) {
    case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        return a->read_mostly;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        return a->type;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        return a->last_type;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        return a->last_id;
    default:
        return a->id;
    }
}

static int32_t differing(int attribute) {
    const bool type = attribute == ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE ||
                      attribute == ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
    if (type) return ACL_MEM_LOCATIONTYPE_INVALID;
    return attribute == ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ? 0 : NOWHERE;
}

static void list_readers(const advice *a, uint64_t count, int32_t *out, size_t room) {
    uint32_t all = UINT32_MAX;
    for (uint64_t i = 0; i < count; i++) all &= a[i].readers;
    size_t n = 0;
    for (int32_t i = 0; i < MOCK_MAX_DEVICES && n < room; i++)
        if ((all >> i & 1) != 0) out[n++] = i;
    if ((all >> 31 & 1) != 0 && n < room) out[n++] = ON_HOST;
    while (n < room) out[n++] = NOWHERE;
}

static void answer(const advice *a, uint64_t count, int attribute, int32_t *out, size_t room) {
    if (attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        list_readers(a, count, out, room);
        return;
    }
    *out = value_of(a, attribute);
    for (uint64_t i = 1; i < count; i++)
        if (value_of(&a[i], attribute) != *out) *out = differing(attribute);
}

/* 32 bits each; the readers as many as there is room for. Locations: a device, -1 the host, -2 none or
 * several (own choice). */
static aclError attribute_of(int attribute, const void *ptr, size_t size, void *data, size_t dataSize) {
    if (attribute < ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        attribute > ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return wrong("unknown attribute");
    const bool list = attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if (dataSize % 4 != 0 || dataSize == 0 || (!list && dataSize != 4)) return wrong("values have 4 bytes");
    uint64_t count = 0;
    mock_space_lock();
    const advice *a = pages_of(ptr, size, &count);
    if (a != NULL) answer(a, count, attribute, data, dataSize / 4);
    mock_space_unlock();
    return a == NULL ? wrong("not inside managed memory") : 0;
}

MOCK_EXPORT aclError aclrtMemManagedGetAttr(
    aclrtMemManagedRangeAttribute attribute, const void *ptr, size_t size, void *data, size_t dataSize) {
    MOCK_ENTER_OF(aclrtMemManagedGetAttr, ptr, data);
    if (ptr == NULL || data == NULL || size == 0) return mock_null("ptr, data and size");
    return attribute_of((int)attribute, ptr, size, data, dataSize);
}

MOCK_EXPORT aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes, size_t numAttributes,
    const void *ptr, size_t size, void **data, size_t *dataSizes) {
    MOCK_ENTER_OF(aclrtMemManagedGetAttrs, ptr);
    if (attributes == NULL || ptr == NULL || data == NULL || dataSizes == NULL || size == 0)
        return mock_null("arrays, ptr and size");
    if (numAttributes == 0) return wrong("no attribute");
    aclError code = 0;
    for (size_t i = 0; i < numAttributes && code == 0; i++)
        code = data[i] == NULL ? wrong("no place for a value")
                               : attribute_of((int)attributes[i], ptr, size, data[i], dataSizes[i]);
    return code;
}
