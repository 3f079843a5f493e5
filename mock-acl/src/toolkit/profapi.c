/* What layers above the runtime tell the profiler: taken and dropped, the profile has what the mock sees
 * itself (own choice). */
#define _GNU_SOURCE
#include <time.h>
#include "base/base.h"
#include "toolkit/toolkit.h"

/* The time in ns instead of ticks of a counter (own choice). */
MOCK_EXPORT uint64_t MsprofSysCycleTime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A number for a name, the same in every process (own choice: FNV-1a). */
MOCK_EXPORT uint64_t MsprofGetHashId(const char *text, size_t length) {
    if (text == NULL) return UINT64_MAX;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash;
}

MOCK_EXPORT int32_t MsprofReportApi(uint32_t aging, const struct MsprofApi *api) {
    (void)aging;
    return api == NULL ? -1 : 0;
}

MOCK_EXPORT int32_t MsprofReportCompactInfo(uint32_t aging, const void *data, uint32_t length) {
    (void)aging;
    return data == NULL || length == 0 ? -1 : 0;
}

MOCK_EXPORT int32_t MsprofReportAdditionalInfo(uint32_t aging, const void *data, uint32_t length) {
    (void)aging;
    return data == NULL || length == 0 ? -1 : 0;
}

MOCK_EXPORT int32_t MsprofRegTypeInfo(uint16_t level, uint32_t typeId, const char *typeName) {
    (void)level, (void)typeId;
    return typeName == NULL ? -1 : 0;
}

/* Never called back: nobody is told to begin or to end. */
MOCK_EXPORT int32_t MsprofRegisterCallback(
    uint32_t module, int32_t (*handle)(uint32_t type, void *data, uint32_t length)) {
    (void)module;
    return handle == NULL ? -1 : 0;
}
