/* Small host-side helpers: data buffers, element sizes, half precision (header: acl_base_rt.h; guide:
 * data types and their operations). A null buffer: 100000 from the calls with a code, else 0 (own
 * choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "core.h"
#include "half.h"

struct aclDataBuffer {
    void *data;
    size_t size;
};

MOCK_EXPORT aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
    MOCK_ENTER_PTR(aclCreateDataBuffer);
    aclDataBuffer *b = malloc(sizeof *b);
    if (b != NULL) *b = (aclDataBuffer){data, size};
    return b;
}

MOCK_EXPORT aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer) {
    MOCK_ENTER(aclDestroyDataBuffer);
    if (dataBuffer == NULL) return mock_null("dataBuffer");
    free((void *)(uintptr_t)dataBuffer);
    return 0;
}

MOCK_EXPORT aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size) {
    MOCK_ENTER(aclUpdateDataBuffer);
    if (dataBuffer == NULL) return mock_null("dataBuffer");
    *dataBuffer = (aclDataBuffer){data, size};
    return 0;
}

MOCK_EXPORT void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer) {
    MOCK_ENTER_PTR(aclGetDataBufferAddr);
    return dataBuffer == NULL ? NULL : dataBuffer->data;
}

MOCK_EXPORT uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer) {
    if (mock_enter(MOCK_API_aclGetDataBufferSize) != 0 || dataBuffer == NULL) return 0;
    return (uint32_t)dataBuffer->size;
}

MOCK_EXPORT size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer) {
    if (mock_enter(MOCK_API_aclGetDataBufferSizeV2) != 0 || dataBuffer == NULL) return 0;
    return dataBuffer->size;
}

/* Types without whole bytes, and unknown ones: 0 (own choice). */
MOCK_EXPORT size_t aclDataTypeSize(aclDataType dataType) {
    if (mock_enter(MOCK_API_aclDataTypeSize) != 0) return 0;
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

/* Exact (own choice: IEEE 754). */
MOCK_EXPORT float aclFloat16ToFloat(aclFloat16 value) {
    return mock_enter(MOCK_API_aclFloat16ToFloat) != 0 ? 0 : mock_half_to_float(value);
}

/* Rounds to the nearest, ties to even; too large a value becomes infinite, any NaN one quiet NaN (own choice:
 * IEEE 754). */
MOCK_EXPORT aclFloat16 aclFloatToFloat16(float value) {
    return mock_enter(MOCK_API_aclFloatToFloat16) != 0 ? 0 : mock_float_to_half(value);
}
