/* Batches of copies: checked as a whole, then done one by one (their order is not promised).
 *
 * Attribute indexes start at 0 and rise; copies of size 0 are skipped; a batch has one direction, to the
 * device or from it (guide: memory management, aclrtMemcpyBatch). Null arrays, no copy, a size above its
 * limit and reserved bytes: 100000 (implementation of the open runtime); the rest 107000 (own choice),
 * among it counts whose arrays no address space can hold: nothing of those is read. Places
 * of an attribute have to agree with the addresses (own choice). The failing index is SIZE_MAX when no single
 * copy is to blame (own choice). */
#define _GNU_SOURCE
#include "base/base.h"
#include "memory/arena.h"
#include "memory/memory.h"

/* Programs have at most 2^47 bytes of addresses on x86-64, 2^48 on aarch64. */
#define LONGEST (((size_t)1 << 48) / sizeof(void *))

typedef struct batch {
    void **dsts;
    size_t *maxs;
    void **srcs;
    size_t *sizes;
    size_t count;
    const aclrtMemcpyBatchAttr *attrs;
    const size_t *starts; /* the first copy of each attribute */
    size_t attr_count;
} batch;

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

static aclError check_arrays(const batch *b, size_t *failed) {
    if (b->dsts == NULL || b->maxs == NULL || b->srcs == NULL || b->sizes == NULL || b->count == 0 ||
        b->attrs == NULL || b->starts == NULL)
        return mock_null("arrays and numBatches");
    if (b->count > LONGEST || b->attr_count > b->count)
        return wrong("no array is as long, or numAttrs is above numBatches");
    for (size_t i = 0; i < b->count; i++) {
        if (b->sizes[i] <= b->maxs[i]) continue;
        *failed = i;
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "size %zu is above %zu", b->sizes[i], b->maxs[i]);
    }
    for (size_t i = 0; i < b->attr_count; i++)
        for (size_t k = 0; k < sizeof b->attrs[i].rsv; k++)
            if (b->attrs[i].rsv[k] != 0)
                return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "reserved bytes");
    return 0;
}

static aclError check_starts(const batch *b) {
    if (b->attr_count == 0) return wrong("numAttrs is 0");
    for (size_t i = 0; i < b->attr_count; i++) {
        const bool rising = i == 0 ? b->starts[0] == 0 : b->starts[i] > b->starts[i - 1];
        if (!rising || b->starts[i] >= b->count) return wrong("attrsIndexes must start at 0 and rise");
    }
    return 0;
}

static bool agrees(const aclrtMemLocation *l, bool device) {
    return device == (l->type == ACL_MEM_LOCATION_TYPE_DEVICE);
}

static aclError check(const batch *b, size_t *failed) {
    *failed = SIZE_MAX;
    aclError code = check_arrays(b, failed);
    if (code == 0) code = check_starts(b);
    if (code != 0) return code;
    int direction = -1;
    for (size_t i = 0, a = 0; i < b->count; i++) {
        if (a + 1 < b->attr_count && b->starts[a + 1] == i) a++;
        if (b->sizes[i] == 0) continue;
        *failed = i;
        code = mock_copy_check(b->dsts[i], b->maxs[i], b->srcs[i], b->sizes[i], ACL_MEMCPY_DEFAULT);
        if (code != 0) return code;
        const bool to = mock_place_of(b->dsts[i]) == MOCK_DEVICE;
        const bool from = mock_place_of(b->srcs[i]) == MOCK_DEVICE;
        if (to == from || (direction >= 0 && direction != (int)to))
            return wrong("all copies of a batch go to the device, or all come from it");
        if (!agrees(&b->attrs[a].dstLoc, to) || !agrees(&b->attrs[a].srcLoc, from))
            return wrong("the places of an attribute are not those of a copy");
        direction = to;
    }
    *failed = SIZE_MAX;
    return 0;
}

static aclError run(const batch *b, size_t *failed, bool async, aclrtStream stream, const char *call) {
    size_t at = SIZE_MAX;
    aclError code = check(b, &at);
    for (size_t i = 0; code == 0 && i < b->count; i++) {
        code =
            async ? mock_copy_async(
                        b->dsts[i], b->maxs[i], b->srcs[i], b->sizes[i], ACL_MEMCPY_DEFAULT, stream, call)
                  : mock_copy_sync(b->dsts[i], b->maxs[i], b->srcs[i], b->sizes[i], ACL_MEMCPY_DEFAULT, call);
        if (code != 0) at = i;
    }
    if (code != 0 && failed != NULL) *failed = at;
    return code;
}

MOCK_EXPORT aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
    size_t *failIndex) {
    MOCK_ENTER(aclrtMemcpyBatch);
    if (failIndex == NULL) return mock_null("failIndex");
    const batch b = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return run(&b, failIndex, false, NULL, "aclrtMemcpyBatch");
}

MOCK_EXPORT aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs) {
    MOCK_ENTER(aclrtMemcpyBatchV2);
    const batch b = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return run(&b, NULL, false, NULL, "aclrtMemcpyBatchV2");
}

MOCK_EXPORT aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
    aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyBatchAsync, stream);
    if (failIndex == NULL) return mock_null("failIndex");
    const batch b = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return run(&b, failIndex, true, stream, "aclrtMemcpyBatchAsync");
}

MOCK_EXPORT aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
    aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyBatchAsyncV2, stream);
    const batch b = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return run(&b, NULL, true, stream, "aclrtMemcpyBatchAsyncV2");
}
