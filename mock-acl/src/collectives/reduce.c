/* Reductions in the order of the ranks, so that all ranks, schedules and runs get the same bits; half precision is
 * added up in single precision and rounded once (own choice: a card rounds at each hop). Integers wrap. */
#define _GNU_SOURCE
#include "collectives/reduce.h"
#include <string.h>
#include "base/base.h"

#define WIDENED(type) ((type) == HCCL_DATA_TYPE_FP16 || (type) == HCCL_DATA_TYPE_BFP16)

int mock_reduces(HcclDataType type, HcclReduceOp op) {
    if ((unsigned)op > HCCL_REDUCE_MIN) return 0;
    switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_FP32:
        return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_BFP16:
        return op != HCCL_REDUCE_PROD;
    default:
        return 0;
    }
}

static uint64_t held(HcclDataType type) {
    switch (type) {
    case HCCL_DATA_TYPE_INT8:
        return 1;
    case HCCL_DATA_TYPE_INT16:
        return 2;
    case HCCL_DATA_TYPE_INT64:
        return 8;
    default:
        return 4;
    }
}

uint64_t mock_reduce_bytes(HcclDataType type, uint64_t count) { return held(type) * count; }

static float wide(HcclDataType type, uint16_t bits) {
    return type == HCCL_DATA_TYPE_FP16 ? mock_half_to_float(bits) : mock_brain_to_float(bits);
}

static uint16_t narrow(HcclDataType type, float f) {
    return type == HCCL_DATA_TYPE_FP16 ? mock_float_to_half(f) : mock_float_to_brain(f);
}

void mock_reduce_first(HcclDataType type, void *sum, const void *from, uint64_t count) {
    if (!WIDENED(type)) {
        memcpy(sum, from, held(type) * count);
        return;
    }
    float *s = sum;
    const uint16_t *f = from;
    for (uint64_t i = 0; i < count; i++) s[i] = wide(type, f[i]);
}

/* NaN stays: a comparison with it is false. */
#define CHOOSE(a, b, better) ((b)better(a) || (b) != (b) ? (b) : (a))
#define LOOP(T, U, VALUE) \
    do { \
        T *const s = sum; \
        for (uint64_t i = 0; i < count; i++) { \
            const T v = (T)(VALUE); \
            switch (op) { \
            case HCCL_REDUCE_SUM: \
                s[i] = (T)((U)s[i] + (U)v); \
                break; \
            case HCCL_REDUCE_PROD: \
                s[i] = (T)((U)s[i] * (U)v); \
                break; \
            case HCCL_REDUCE_MAX: \
                s[i] = CHOOSE(s[i], v, >); \
                break; \
            default: \
                s[i] = CHOOSE(s[i], v, <); \
            } \
        } \
    } while (0)

void mock_reduce_next(HcclDataType type, HcclReduceOp op, void *sum, const void *from, uint64_t count) {
    switch (type) {
    case HCCL_DATA_TYPE_INT8:
        LOOP(int8_t, uint32_t, ((const int8_t *)from)[i]);
        break;
    case HCCL_DATA_TYPE_INT16:
        LOOP(int16_t, uint32_t, ((const int16_t *)from)[i]);
        break;
    case HCCL_DATA_TYPE_INT32:
        LOOP(int32_t, uint32_t, ((const int32_t *)from)[i]);
        break;
    case HCCL_DATA_TYPE_INT64:
        LOOP(int64_t, uint64_t, ((const int64_t *)from)[i]);
        break;
    case HCCL_DATA_TYPE_FP32:
        LOOP(float, float, ((const float *)from)[i]);
        break;
    default:
        LOOP(float, float, wide(type, ((const uint16_t *)from)[i]));
    }
}

void mock_reduce_last(HcclDataType type, const void *sum, void *to, uint64_t count) {
    if (!WIDENED(type)) {
        memcpy(to, sum, held(type) * count);
        return;
    }
    uint16_t *t = to;
    const float *s = sum;
    for (uint64_t i = 0; i < count; i++) t[i] = narrow(type, s[i]);
}
