/* Batches of copies: checked as a whole, then done one by one (their order is not promised).
 *
 * Attribute indexes start at 0 and rise; copies of size 0 are skipped (guide: memory management,
 * aclrtMemcpyBatch). The direction of each copy follows from its addresses, so a batch may mix them, and
 * nothing else of an attribute is read (own choice: the guide allows one direction a batch). The failing
 * index is SIZE_MAX when no single copy is to blame (own choice). */
#define _GNU_SOURCE
#include "memory.h"

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

static aclError check(const batch *b, size_t *failed) {
    *failed = SIZE_MAX;
    if (b->dsts == NULL || b->maxs == NULL || b->srcs == NULL || b->sizes == NULL || b->count == 0)
        return mock_null("dsts, destMaxs, srcs, sizes and numBatches");
    if (b->attrs == NULL || b->starts == NULL || b->attr_count == 0)
        return mock_null("attrs and attrsIndexes");
    for (size_t i = 0; i < b->attr_count; i++) {
        const bool rising = i == 0 ? b->starts[0] == 0 : b->starts[i] > b->starts[i - 1];
        if (!rising || b->starts[i] >= b->count)
            return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "attrsIndexes must start at 0 and rise");
    }
    for (size_t i = 0; i < b->count; i++) {
        if (b->sizes[i] == 0) continue;
        const aclError code =
            mock_copy_check(b->dsts[i], b->maxs[i], b->srcs[i], b->sizes[i], ACL_MEMCPY_DEFAULT);
        if (code == 0) continue;
        *failed = i;
        return code;
    }
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
    MOCK_ENTER(aclrtMemcpyBatchAsync);
    const batch b = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return run(&b, failIndex, true, stream, "aclrtMemcpyBatchAsync");
}

MOCK_EXPORT aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
    aclrtStream stream) {
    MOCK_ENTER(aclrtMemcpyBatchAsyncV2);
    const batch b = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    return run(&b, NULL, true, stream, "aclrtMemcpyBatchAsyncV2");
}
