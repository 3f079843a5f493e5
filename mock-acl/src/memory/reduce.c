/* Reductions into memory: dst takes the sum, maximum or minimum of itself and src, element by element, or
 * whether the two are equal, 1 or 0 (guide: execution control, aclrtReduceAsync; what EQUAL gives is our own
 * choice).
 *
 * Sums of integers wrap, f16 and bf16 are computed in f32 and rounded once, a NaN in either operand stays
 * (own choice: no card was compared). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"

#define SUM ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM
#define MAX ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX
#define MIN ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN
#define EQUAL ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL

static int64_t whole(int64_t a, int64_t b, int kind) {
    switch (kind) {
    case SUM:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case MAX:
        return a > b ? a : b;
    case MIN:
        return a < b ? a : b;
    default:
        return a == b;
    }
}

static float real(float a, float b, int kind) {
    if (kind == EQUAL) return a == b;
    if (kind == SUM || a != a || b != b) return a + b;
    if (kind == MAX) return a > b ? a : b;
    return a < b ? a : b;
}

#define WHOLES(type)                                                                                     \
    for (uint64_t i = 0; i + sizeof(type) <= r->bytes; i += sizeof(type)) {                              \
        type a, b;                                                                                       \
        memcpy(&a, dst + i, sizeof a);                                                                   \
        memcpy(&b, src + i, sizeof b);                                                                   \
        a = (type)whole(a, b, r->kind);                                                                  \
        memcpy(dst + i, &a, sizeof a);                                                                   \
    }
#define REALS(type, read, write)                                                                         \
    for (uint64_t i = 0; i + sizeof(type) <= r->bytes; i += sizeof(type)) {                              \
        type a, b;                                                                                       \
        memcpy(&a, dst + i, sizeof a);                                                                   \
        memcpy(&b, src + i, sizeof b);                                                                   \
        a = write(real(read(a), read(b), r->kind));                                                      \
        memcpy(dst + i, &a, sizeof a);                                                                   \
    }
#define SAME(x) (x)

static aclError run_reduce(void *arg) {
    const mock_reduce *r = arg;
    char *dst = mock_device_view(r->dst, r->bytes);
    const char *src = mock_device_view(r->src, r->bytes);
    if (dst == NULL || src == NULL) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    const bool free = mock_touch_task(r->src, r->bytes, MOCK_READS);
    if (!mock_touch_task(r->dst, r->bytes, MOCK_WRITES) || !free) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    switch ((int)r->type) {
    case ACL_INT8:
        WHOLES(int8_t)
        break;
    case ACL_INT16:
        WHOLES(int16_t)
        break;
    case ACL_INT32:
        WHOLES(int32_t)
        break;
    case ACL_FLOAT:
        REALS(float, SAME, SAME)
        break;
    case ACL_FLOAT16:
        REALS(uint16_t, mock_half_to_float, mock_float_to_half)
        break;
    default:
        REALS(uint16_t, mock_brain_to_float, mock_float_to_brain)
        break;
    }
    return 0;
}

static const mock_task_ops reduce_ops = {"aclrtReduceAsync", run_reduce, NULL};

/* Types of the interface that no engine of a 910B reduces: 207000 (guide: execution control,
 * aclrtReduceAsync; own choice of the code); the others: 100000 (implementation of the open runtime). */
static aclError check_type(aclDataType type, uint64_t *size) {
    switch ((int)type) {
    case ACL_INT8:
        *size = 1;
        return 0;
    case ACL_INT16:
    case ACL_FLOAT16:
    case ACL_BF16:
        *size = 2;
        return 0;
    case ACL_INT32:
    case ACL_FLOAT:
        *size = 4;
        return 0;
    case ACL_INT4:
    case ACL_UINT8:
    case ACL_UINT16:
    case ACL_UINT32:
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "data type %d", (int)type);
    default:
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "data type %d", (int)type);
    }
}

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

/* Both on the device of the stream (guide: execution control, aclrtReduceAsync), and device memory (own
 * choice). */
static aclError check_place(const mock_stream *s, const mock_reduce *r) {
    if (mock_place_of(r->dst) != MOCK_DEVICE || mock_place_of(r->src) != MOCK_DEVICE)
        return wrong("only device memory is reduced");
    if (!mock_peer_reaches(s->ctx->device, r->dst) || !mock_peer_reaches(s->ctx->device, r->src))
        return wrong("memory of another device");
    return 0;
}

/* `count` is in bytes (guide: execution control, aclrtReduceAsync). 0, or no multiple of an element: 107000
 * (own choice). */
MOCK_EXPORT aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind,
    aclDataType type, aclrtStream stream, void *reserve) {
    MOCK_ENTER_OF(aclrtReduceAsync, dst, src, stream);
    if (dst == NULL || src == NULL) return mock_null("dst and src");
    if (reserve != NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "reserve must be null");
    uint64_t size = 1;
    aclError code = check_type(type, &size);
    if (code != 0) return code;
    if ((int)kind < SUM || (int)kind > EQUAL) return wrong("unknown kind of reduction");
    if (count == 0 || count % size != 0) return wrong("the count is no multiple of an element");
    mock_task t = {.ops = &reduce_ops, .kind = MOCK_TASK_WORK};
    t.u.reduce = (mock_reduce){dst, src, count, (uint8_t)kind, (uint8_t)type};
    mock_stream *s = NULL;
    mock_lock();
    code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = check_place(s, &t.u.reduce);
    if (code == 0) code = mock_submit(s, &t);
    mock_unlock();
    return code;
}
