/* Small host-side helpers: data buffers, element sizes, half precision (header: acl_base_rt.h; guide:
 * data types and their operations). A null or stale buffer: 100000 from the calls with a code, else 0 (own
 * choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "acl/error_codes/ge_error_codes.h"
#include "base/base.h"
#include "memory/memory.h"
#include "models/data_buffer.h"
#include "models/models.h"

static const mock_thing_type buffer_type = {"aclDataBuffer", NULL};

const mock_data_buffer *mock_data_buffer_get(const aclDataBuffer *handle) {
    return mock_thing_get(&buffer_type, handle);
}

aclError mock_data_buffer_write(const mock_data_buffer *b, const void *from, size_t bytes) {
    if (b->size < bytes)
        return mock_fail((aclError)ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID, "EE4001", "%zu bytes, where %zu are needed",
            b->size, bytes);
    const aclError forbidden = mock_forbidden_sync("aclrtMemcpy"); /* which the implementation makes */
    if (forbidden != 0) return forbidden;
    mock_views_take();
    char *at = mock_device_view(b->data, bytes);
    if (at != NULL) memcpy(at, from, bytes);
    mock_views_give();
    if (at != NULL) return 0;
    return mock_fail((aclError)ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID, "EE4001", "%p is no device memory", b->data);
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
    return mock_enter(MOCK_API_aclFloat16ToFloat) != 0 ? 0 : mock_half_to_float(value);
}

/* Rounds to the nearest, ties to even; too large a value becomes infinite, any NaN one quiet NaN (own choice:
 * IEEE 754). */
MOCK_EXPORT aclFloat16 aclFloatToFloat16(float value) {
    return mock_enter(MOCK_API_aclFloatToFloat16) != 0 ? 0 : mock_float_to_half(value);
}
