/* Small host-side helpers: data buffers, element sizes, half precision (header: acl_base_rt.h; guide:
 * data types and their operations). A null or stale buffer: 100000 from the calls with a code, else 0 (own
 * choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "data_buffer.h"

static const mock_thing_type buffer_type = {"aclDataBuffer", NULL};

const mock_data_buffer *mock_data_buffer_get(const aclDataBuffer *handle) {
    return mock_thing_get(&buffer_type, handle);
}

MOCK_EXPORT aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
    MOCK_ENTER_PTR(aclCreateDataBuffer);
    mock_data_buffer *b = mock_thing_new(&buffer_type, sizeof *b);
    if (b == NULL) return NULL;
    b->data = data;
    b->size = size;
    return b->thing.handle;
}

MOCK_EXPORT aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer) {
    MOCK_ENTER(aclDestroyDataBuffer);
    return mock_thing_destroy(&buffer_type, dataBuffer, "dataBuffer");
}

MOCK_EXPORT aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size) {
    MOCK_ENTER(aclUpdateDataBuffer);
    void *found = NULL;
    const aclError code = mock_thing_find(&buffer_type, dataBuffer, "dataBuffer", &found);
    if (code != 0) return code;
    mock_data_buffer *b = found;
    b->data = data;
    b->size = size;
    return 0;
}

MOCK_EXPORT void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer) {
    MOCK_ENTER_PTR(aclGetDataBufferAddr);
    const mock_data_buffer *b = mock_data_buffer_get(dataBuffer);
    return b == NULL ? NULL : b->data;
}

MOCK_EXPORT uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer) {
    if (mock_enter(MOCK_API_aclGetDataBufferSize) != 0) return 0;
    const mock_data_buffer *b = mock_data_buffer_get(dataBuffer);
    return b == NULL ? 0 : (uint32_t)b->size;
}

MOCK_EXPORT size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer) {
    if (mock_enter(MOCK_API_aclGetDataBufferSizeV2) != 0) return 0;
    const mock_data_buffer *b = mock_data_buffer_get(dataBuffer);
    return b == NULL ? 0 : b->size;
}

/* Types without whole bytes, and unknown ones: 0 (own choice). */
size_t mock_dtype_bytes(aclDataType dataType) {
    switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
        return 1;
    case ACL_FLOAT16:
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_BF16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
        return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64:
        return 8;
    case ACL_COMPLEX128:
        return 16;
    default:
        return 0;
    }
}

MOCK_EXPORT size_t aclDataTypeSize(aclDataType dataType) {
    return mock_enter(MOCK_API_aclDataTypeSize) != 0 ? 0 : mock_dtype_bytes(dataType);
}

/* Exact (own choice: IEEE 754). */
MOCK_EXPORT float aclFloat16ToFloat(aclFloat16 value) {
    if (mock_enter(MOCK_API_aclFloat16ToFloat) != 0) return 0;
    const uint32_t sign = (uint32_t)(value >> 15) << 31, exponent = (value >> 10) & 31u,
                   fraction = value & 1023u;
    uint32_t bits = sign | ((exponent + 112) << 23) | (fraction << 13);
    if (exponent == 31) bits = sign | 0x7F800000u | (fraction << 13);
    float f = 0;
    if (exponent == 0) {
        f = (float)fraction * 0x1p-24f;
        return sign != 0 ? -f : f;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Rounds to the nearest, ties to even; too large a value becomes infinite, any NaN one quiet NaN (own choice:
 * IEEE 754). */
MOCK_EXPORT aclFloat16 aclFloatToFloat16(float value) {
    if (mock_enter(MOCK_API_aclFloatToFloat16) != 0) return 0;
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return (aclFloat16)(sign | 0x7E00u);
    if (magnitude >= 0x47800000u) return (aclFloat16)(sign | 0x7C00u);
    uint32_t kept = 0, rest = 0, half = 0;
    if (magnitude >= 0x38800000u) {
        kept = (magnitude - 0x38000000u) >> 13;
        rest = magnitude & 0x1FFFu;
        half = 0x1000u;
    } else {
        const uint32_t shift = 126u - (magnitude >> 23);
        if (shift > 24) return sign;
        const uint32_t fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
        kept = fraction >> shift;
        rest = fraction & ((1u << shift) - 1);
        half = 1u << (shift - 1);
    }
    if (rest > half || (rest == half && (kept & 1) != 0)) kept++;
    return (aclFloat16)(sign | kept);
}
