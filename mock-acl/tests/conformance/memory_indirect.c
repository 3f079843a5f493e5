/* Part of racl (mock-acl). Copies whose addresses stand in device memory, reductions, device symbols, managed memory
 * (guide: memory management, aclrtMemcpyAsyncWithDesc, aclrtMemAllocManaged; execution control, aclrtReduceAsync). */
#include "conform.h"

#define INNER ACL_MEMCPY_INNER_DEVICE_TO_DEVICE
#define SUM ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM

static void *descriptor(void) {
    size_t size = 0;
    OK(aclrtGetMemcpyDescSize(INNER, &size));
    return device(size);
}

RULE(indirect, a_copy_by_a_descriptor, "guide: aclrtMemcpyAsyncWithDesc") {
    up();
    aclrtStream stream = new_stream();
    void *a = device(64), *b = device(64), *desc = descriptor();
    fill(a, 1, 64);
    fill(b, 0, 64);
    OK(aclrtSetMemcpyDesc(desc, INNER, a, b, 32, NULL));
    OK(aclrtMemcpyAsyncWithDesc(desc, INNER, stream));
    finish(stream);
    TRUE(byte_at(b) == 1 && byte_at((char *)b + 31) == 1 && byte_at((char *)b + 32) == 0);
}

RULE(indirect, a_captured_copy_follows_its_descriptor, "guide: aclrtMemcpyAsyncWithDesc") {
    up();
    void *a = device(64), *b = device(64), *c = device(64), *desc = descriptor();
    fill(a, 1, 64);
    fill(c, 3, 64);
    OK(aclrtSetMemcpyDesc(desc, INNER, a, b, 64, NULL));
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtMemcpyAsyncWithDesc(desc, INNER, stream));
    aclmdlRI graph = end(stream);
    aclrtStream other = new_stream();
    replay(graph, other);
    TRUE(byte_at(b) == 1);
    OK(aclrtSetMemcpyDesc(desc, INNER, c, b, 64, NULL));
    replay(graph, other);
    TRUE(byte_at(b) == 3);
}

RULE(indirect, descriptors_need_their_arguments, "implementation: aclrtSetMemcpyDesc and its neighbours") {
    up();
    aclrtStream stream = new_stream();
    void *desc = descriptor(), *p = device(64);
    size_t size = 0;
    EXPECT(aclrtGetMemcpyDescSize(INNER, NULL), 100000);
    EXPECT(aclrtGetMemcpyDescSize((aclrtMemcpyKind)8, &size), 100000);
    EXPECT(aclrtSetMemcpyDesc(NULL, INNER, p, p, 8, NULL), 100000);
    EXPECT(aclrtSetMemcpyDesc(desc, INNER, NULL, p, 8, NULL), 100000);
    EXPECT(aclrtSetMemcpyDesc(desc, INNER, p, NULL, 8, NULL), 100000);
    EXPECT(aclrtSetMemcpyDesc(desc, INNER, p, p, 0, NULL), 100000);
    EXPECT(aclrtSetMemcpyDesc(desc, INNER, p, p, 8, p), 100000);
    EXPECT(aclrtSetMemcpyDesc(desc, (aclrtMemcpyKind)-1, p, p, 8, NULL), 100000);
    EXPECT(aclrtMemcpyAsyncWithDesc(NULL, INNER, stream), 100000);
    EXPECT(aclrtMemcpyAsyncWithDesc(desc, INNER, NULL), 100000);
    EXPECT(aclrtMemcpyAsyncWithDesc(desc, (aclrtMemcpyKind)8, stream), 100000);
}

RULE_MOCK(indirect, descriptors_of_other_kinds, "guide: aclrtGetMemcpyDescSize; own choice of the code") {
    up();
    size_t size = 0;
    for (int kind = 0; kind < 8; kind++)
        EXPECT(aclrtGetMemcpyDescSize((aclrtMemcpyKind)kind, &size), kind == INNER ? 0 : 207000);
}

RULE(indirect, writing_a_descriptor_in_a_capture, "implementation: capture modes") {
    up();
    void *desc = descriptor(), *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtSetMemcpyDesc(desc, INNER, p, p, 8, NULL), 107030);
    end(stream);
}

RULE_MOCK(indirect, what_is_no_descriptor, "own choice of the code") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    fill(p, 7, 64);
    OK(aclrtMemcpyAsyncWithDesc(p, INNER, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    EXPECT(aclrtMemcpyAsyncWithDesc(pinned(64), INNER, stream), 107000);
    EXPECT(aclrtSetMemcpyDesc(pinned(64), INNER, p, p, 8, NULL), 107000);
    EXPECT(aclrtSetMemcpyDesc(p, INNER, p, p, ((size_t)4 << 30) + 1, NULL), 107000);
}

static void **cells(void *to, void *from) {
    void *host[2] = {to, from};
    void *p = device(sizeof host);
    OK(aclrtMemcpy(p, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE));
    return (void **)p;
}

RULE(indirect, a_copy_with_offsets, "guide: aclrtMemcpyAsyncWithOffset") {
    up();
    aclrtStream stream = new_stream();
    char *a = (char *)device(64), *b = (char *)device(64);
    fill(a, 0, 64);
    fill(a + 16, 5, 8);
    fill(b, 0, 64);
    void **at = cells(b, a);
    OK(aclrtMemcpyAsyncWithOffset(at, 64, 32, (const void **)(at + 1), 8, 16, INNER, stream));
    finish(stream);
    TRUE(byte_at(b + 31) == 0 && byte_at(b + 32) == 5 && byte_at(b + 39) == 5 && byte_at(b + 40) == 0);
}

RULE(indirect, a_captured_copy_follows_its_addresses, "guide: aclrtMemcpyAsyncWithOffset") {
    up();
    char *a = (char *)device(64), *b = (char *)device(64), *c = (char *)device(64);
    fill(a, 1, 64);
    fill(c, 0, 64);
    void **at = cells(b, a);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtMemcpyAsyncWithOffset(at, 64, 0, (const void **)(at + 1), 64, 0, INNER, stream));
    aclmdlRI graph = end(stream);
    aclrtStream other = new_stream();
    replay(graph, other);
    TRUE(byte_at(b) == 1 && byte_at(c) == 0);
    void *now = c;
    OK(aclrtMemcpy(at, 8, &now, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    replay(graph, other);
    TRUE(byte_at(c + 63) == 1);
}

RULE(indirect, offsets_need_their_arguments, "implementation: aclrtMemcpyAsyncWithOffset") {
    up();
    aclrtStream stream = new_stream();
    void **at = cells(device(64), device(64));
    const void **from = (const void **)(at + 1);
    EXPECT(aclrtMemcpyAsyncWithOffset(NULL, 64, 0, from, 8, 0, INNER, stream), 107000);
    EXPECT(aclrtMemcpyAsyncWithOffset(at, 64, 0, NULL, 8, 0, INNER, stream), 107000);
    EXPECT(aclrtMemcpyAsyncWithOffset(at, 4, 0, from, 8, 0, INNER, stream), 107000);
}

RULE_MOCK(indirect, offsets_beyond_the_block, "own choice of the code") {
    up();
    aclrtStream stream = new_stream();
    void **at = cells(device(64), device(64));
    OK(aclrtMemcpyAsyncWithOffset(at, 64, 60, (const void **)(at + 1), 8, 0, INNER, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    const void **from = (const void **)(at + 1);
    EXPECT(aclrtMemcpyAsyncWithOffset(at, 64, 0, from, 8, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 107000);
}

/* ---- reductions ---- */

static float sum_of(aclrtReduceKind kind, float a, float b) {
    void *p = device(4), *q = device(4);
    aclrtStream stream = new_stream();
    float out = 0;
    OK(aclrtMemcpy(p, 4, &a, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(q, 4, &b, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtReduceAsync(p, q, 4, kind, ACL_FLOAT, stream, NULL));
    finish(stream);
    OK(aclrtMemcpy(&out, 4, p, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return out;
}

RULE(reduce, sums, "guide: aclrtReduceAsync") {
    up();
    TRUE(sum_of(SUM, 1.5f, 2.25f) == 3.75f);
}
RULE(reduce, maxima_and_minima, "guide: aclrtReduceAsync") {
    up();
    TRUE(sum_of(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, 1.5f, -2) == 1.5f);
    TRUE(sum_of(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, 1.5f, -2) == -2);
}
RULE_MOCK(reduce, equality, "header: aclrtReduceKind; own choice of the result") {
    up();
    TRUE(sum_of(ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, 2, 2) == 1);
    TRUE(sum_of(ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, 2, 3) == 0);
}

RULE(reduce, types_of_the_card, "guide: aclrtReduceAsync") {
    up();
    static const aclDataType types[] = {ACL_INT8, ACL_INT16, ACL_INT32, ACL_FLOAT16, ACL_FLOAT, ACL_BF16};
    aclrtStream stream = new_stream();
    void *p = device(64), *q = device(64);
    fill(p, 0, 64);
    fill(q, 0, 64);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        EXPECT(aclrtReduceAsync(p, q, 64, SUM, types[i], stream, NULL), 0);
    finish(stream);
    TRUE(byte_at(p) == 0);
}

RULE(reduce, integers, "guide: aclrtReduceAsync") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(4), *q = device(4);
    fill(p, 1, 4);
    fill(q, 2, 4);
    OK(aclrtReduceAsync(p, q, 4, SUM, ACL_INT8, stream, NULL));
    finish(stream);
    TRUE(byte_at(p) == 3 && byte_at((char *)p + 3) == 3 && byte_at(q) == 2);
}

RULE(reduce, arguments, "implementation: aclrtReduceAsync") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    EXPECT(aclrtReduceAsync(NULL, p, 8, SUM, ACL_FLOAT, stream, NULL), 100000);
    EXPECT(aclrtReduceAsync(p, NULL, 8, SUM, ACL_FLOAT, stream, NULL), 100000);
    EXPECT(aclrtReduceAsync(p, p, 8, SUM, ACL_FLOAT, stream, p), 100000);
    EXPECT(aclrtReduceAsync(p, p, 8, SUM, ACL_DOUBLE, stream, NULL), 100000);
    EXPECT(aclrtReduceAsync(p, p, 8, SUM, ACL_COMPLEX64, stream, NULL), 100000);
}

RULE_MOCK(reduce, arguments_that_the_mock_judges, "own choice of the codes") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    EXPECT(aclrtReduceAsync(p, p, 8, (aclrtReduceKind)14, ACL_FLOAT, stream, NULL), 107000);
    EXPECT(aclrtReduceAsync(p, p, 0, SUM, ACL_FLOAT, stream, NULL), 107000);
    EXPECT(aclrtReduceAsync(p, p, 6, SUM, ACL_FLOAT, stream, NULL), 107000);
    EXPECT(aclrtReduceAsync(p, pinned(8), 8, SUM, ACL_FLOAT, stream, NULL), 107000);
    EXPECT(aclrtReduceAsync(p, p, 8, SUM, ACL_UINT8, stream, NULL), 207000);
}

RULE(reduce, on_the_default_stream, "guide: aclrtReduceAsync") {
    up();
    void *p = device(4);
    fill(p, 1, 4);
    OK(aclrtReduceAsync(p, p, 4, SUM, ACL_INT8, NULL, NULL));
    OK(aclrtSynchronizeDevice());
    TRUE(byte_at(p) == 2);
}

RULE(reduce, in_a_graph, "guide: aclrtReduceAsync") {
    up();
    void *p = device(4), *q = device(4);
    fill(p, 0, 4);
    fill(q, 1, 4);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtReduceAsync(p, q, 4, SUM, ACL_INT8, stream, NULL));
    aclmdlRI graph = end(stream);
    aclrtStream other = new_stream();
    replay(graph, other);
    replay(graph, other);
    TRUE(byte_at(p) == 2);
}

/* ---- symbols ---- */

RULE(symbol, names_and_places, "implementation: aclrtGetSymbolAddress and its neighbours") {
    up();
    void *p = NULL;
    size_t size = 0;
    EXPECT(aclrtGetSymbolAddress(NULL, &p), 100000);
    EXPECT(aclrtGetSymbolAddress(&size, NULL), 100000);
    EXPECT(aclrtGetSymbolSize(NULL, &size), 100000);
}

RULE(symbol, unknown_ones, "header: ACL_ERROR_RT_SYMBOL_NOT_FOUND, ACL_ERROR_RT_INVALID_SYMBOL") {
    up();
    void *p = NULL;
    char local = 0;
    EITHER(aclrtGetSymbolAddress(&local, &p), 107043, 107042);
    EITHER(aclrtMemcpyFromSymbol(&local, 1, &local, 1, 0, ACL_MEMCPY_DEVICE_TO_HOST), 107043, 107042);
}

/* ---- managed memory ---- */

#define PAGE ((size_t)2 << 20)

static char *managed(size_t size) {
    void *p = NULL;
    const int code = aclrtMemAllocManaged(&p, size, ACL_RT_MEM_ATTACH_GLOBAL);
    if (code == 207000) SKIP("no managed memory here");
    OK(code);
    return (char *)p;
}

RULE(managed, host_and_device_share_it, "guide: aclrtMemAllocManaged") {
    up();
    aclrtStream stream = new_stream();
    char *p = managed(PAGE);
    p[0] = 4;
    OK(aclrtMemcpyAsync(p + 8, 8, p, 1, ACL_MEMCPY_DEFAULT, stream));
    OK(aclrtMemsetAsync(p + 16, 8, 6, 8, stream));
    finish(stream);
    TRUE(p[8] == 4 && p[16] == 6);
    EXPECT(aclrtFree(p), 0);
}

RULE(managed, sizes_and_flags, "implementation: aclrtMemAllocManaged and its neighbours") {
    up();
    void *p = NULL;
    int32_t value = 0;
    const aclrtMemManagedLocation here = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
    EXPECT(aclrtMemAllocManaged(NULL, PAGE, ACL_RT_MEM_ATTACH_GLOBAL), 100000);
    EXPECT(aclrtMemAllocManaged(&p, PAGE, 0), 100000);
    EXPECT(aclrtMemAllocManaged(&p, PAGE, 2), 100000);
    EXPECT(aclrtMemManagedAdvise(NULL, PAGE, ACL_MEM_ADVISE_SET_READ_MOSTLY, here), 100000);
    EXPECT(aclrtMemManagedAdvise(&value, 0, ACL_MEM_ADVISE_SET_READ_MOSTLY, here), 100000);
    EXPECT(aclrtMemManagedPrefetchAsync(NULL, PAGE, here, 0, NULL), 100000);
    EXPECT(aclrtMemManagedPrefetchAsync(&value, PAGE, here, 1, NULL), 100000);
    EXPECT(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, NULL, PAGE, &value, 4), 100000);
    EXPECT(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, &value, 0, &value, 4), 100000);
}

RULE(managed, its_place, "guide: aclrtPointerGetAttributes, aclrtMemAllocManaged") {
    up();
    aclrtPtrAttributes attributes;
    OK(aclrtPointerGetAttributes(managed(PAGE) + 5, &attributes));
    TRUE(attributes.location.type == ACL_MEM_LOCATION_TYPE_MANAGED);
}

RULE(managed, its_addresses, "guide: aclrtMemAllocManaged") {
    up();
    const uintptr_t first = (uintptr_t)0x90000000000, p = (uintptr_t)managed(PAGE), q = (uintptr_t)managed(3 * PAGE);
    if (p < first || p >= first + ((uintptr_t)3 << 40)) SKIP("a sanitizer has the addresses");
    TRUE(p % PAGE == 0 && q % PAGE == 0 && q >= first && q < first + ((uintptr_t)3 << 40));
}

static int32_t attribute(aclrtMemManagedRangeAttribute what, const char *p, size_t size) {
    int32_t value = 77;
    OK(aclrtMemManagedGetAttr(what, p, size, &value, sizeof value));
    return value;
}

RULE(managed, advice_is_kept, "guide: aclrtMemManagedAdvise, aclrtMemManagedGetAttr") {
    up();
    char *p = managed(2 * PAGE);
    const aclrtMemManagedLocation here = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, PAGE) == 0);
    OK(aclrtMemManagedAdvise(p, PAGE, ACL_MEM_ADVISE_SET_READ_MOSTLY, here));
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, PAGE) == 1);
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 2 * PAGE) == 0);
    OK(aclrtMemManagedAdvise(p, PAGE, ACL_MEM_ADVISE_UNSET_READ_MOSTLY, here));
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, PAGE) == 0);
    OK(aclrtMemManagedAdvise(p, PAGE, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, PAGE) == ACL_MEM_LOCATIONTYPE_DEVICE);
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, PAGE) == 0);
}

RULE(managed, a_prefetch_is_seen, "guide: aclrtMemManagedPrefetchAsync") {
    up();
    char *p = managed(PAGE);
    aclrtStream stream = new_stream();
    const aclrtMemManagedLocation here = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
    OK(aclrtMemManagedPrefetchAsync(p, PAGE, here, 0, stream));
    finish(stream);
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, p, PAGE) == ACL_MEM_LOCATIONTYPE_DEVICE);
}

RULE_MOCK(managed, a_prefetch_has_whole_pages, "guide: aclrtMemManagedPrefetchAsync") {
    up();
    char *p = managed(2 * PAGE);
    const aclrtMemManagedLocation here = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
    EXPECT(aclrtMemManagedPrefetchAsync(p, PAGE + 4096, here, 0, NULL), 107000);
}

RULE(managed, several_prefetches, "guide: aclrtMemManagedPrefetchBatchAsync") {
    up();
    char *p = managed(2 * PAGE);
    aclrtStream stream = new_stream();
    const void *list[2] = {p, p + PAGE};
    size_t sizes[2] = {PAGE, PAGE}, first[2] = {0, 1};
    aclrtMemManagedLocation places[2] = {{ACL_MEM_LOCATIONTYPE_DEVICE, 0}, {ACL_MEM_LOCATIONTYPE_HOST, 0}};
    OK(aclrtMemManagedPrefetchBatchAsync(list, sizes, 2, places, first, 2, 0, stream));
    finish(stream);
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, p, PAGE) == ACL_MEM_LOCATIONTYPE_DEVICE);
    TRUE(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, p + PAGE, PAGE) == ACL_MEM_LOCATIONTYPE_HOST);
    EXPECT(aclrtMemManagedPrefetchBatchAsync(list, sizes, 1, places, first, 2, 0, stream), 100000);
    EXPECT(aclrtMemManagedPrefetchBatchAsync(NULL, sizes, 2, places, first, 2, 0, stream), 100000);
    EXPECT(aclrtMemManagedPrefetchBatchAsync(list, sizes, 2, places, first, 2, 1, stream), 100000);
}

RULE(managed, several_attributes, "guide: aclrtMemManagedGetAttrs") {
    up();
    char *p = managed(PAGE);
    aclrtMemManagedRangeAttribute which[2] = {
        ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE};
    int32_t one = 7, two = 7;
    void *out[2] = {&one, &two};
    size_t sizes[2] = {4, 4};
    OK(aclrtMemManagedGetAttrs(which, 2, p, PAGE, out, sizes));
    TRUE(one == 0 && two == ACL_MEM_LOCATIONTYPE_INVALID);
    EXPECT(aclrtMemManagedGetAttrs(NULL, 2, p, PAGE, out, sizes), 100000);
    EXPECT(aclrtMemManagedGetAttrs(which, 2, p, PAGE, NULL, sizes), 100000);
}

RULE_MOCK(managed, what_does_not_fit, "guide: aclrtMemManagedAdvise; own choice of the codes") {
    up();
    char *p = managed(PAGE);
    const aclrtMemManagedLocation here = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
    const aclrtMemManagedLocation nowhere = {ACL_MEM_LOCATIONTYPE_DEVICE, 99};
    EXPECT(aclrtMemManagedAdvise(p, PAGE + 1, ACL_MEM_ADVISE_SET_READ_MOSTLY, here), 107000);
    EXPECT(aclrtMemManagedAdvise(p, 2 * PAGE, ACL_MEM_ADVISE_SET_READ_MOSTLY, here), 107000);
    EXPECT(aclrtMemManagedAdvise(p, PAGE, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere), 107000);
    EXPECT(aclrtMemManagedAdvise(p, PAGE, (aclrtMemManagedAdviseType)6, here), 107000);
    EXPECT(aclrtMemManagedPrefetchAsync(device(64), PAGE, here, 0, NULL), 107000);
    EXPECT(aclrtFree(p + 8), 107000);
    EXPECT(aclrtFree(p), 0);
    EXPECT(aclrtFree(p), 107000);
}
