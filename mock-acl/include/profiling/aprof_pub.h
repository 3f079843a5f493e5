/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Reports to the profiler from the layers above the runtime (libprofapi). */
#ifndef MOCK_PROFILING_APROF_PUB_H_
#define MOCK_PROFILING_APROF_PUB_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MSPROF_REPORT_DATA_MAGIC_NUM 0x5A5AU
#define MSPROF_REPORT_ACL_LEVEL 20000U
#define MSPROF_REPORT_NODE_LEVEL 10000U
#define MSPROF_COMPACT_INFO_DATA_LENGTH 40
#define MSPROF_ADDTIONAL_INFO_DATA_LENGTH 232
#define PROFILING_REPORT_SUCCESS 0
#define PROFILING_REPORT_FAILED (-1)

enum ProfCtrlType {
    PROF_CTRL_INVALID = 0,
    PROF_CTRL_SWITCH = 1,
    PROF_CTRL_REPORTER = 2,
    PROF_CTRL_STEPINFO = 3,
    PROF_CTRL_BUTT = 4
};

struct MsprofApi {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t reserve;
    uint64_t beginTime;
    uint64_t endTime;
    uint64_t itemId;
};

struct MsprofRuntimeTrack {
    uint16_t deviceId;
    uint16_t streamId;
    uint32_t taskId;
    uint64_t taskType;
};

#pragma pack(1)
struct MsprofNodeBasicInfo {
    uint64_t opName;
    uint32_t taskType;
    uint64_t opType;
    uint32_t blockDim;
    uint32_t opFlag;
};
#pragma pack()

struct MsprofCompactInfo {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen;
    uint64_t timeStamp;
    union {
        uint8_t info[MSPROF_COMPACT_INFO_DATA_LENGTH];
        struct MsprofRuntimeTrack runtimeTrack;
        struct MsprofNodeBasicInfo nodeBasicInfo;
    } data;
};

struct MsprofAdditionalInfo {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen;
    uint64_t timeStamp;
    uint8_t data[MSPROF_ADDTIONAL_INFO_DATA_LENGTH];
};

typedef int32_t (*ProfCommandHandle)(uint32_t type, void *data, uint32_t len);

uint64_t MsprofGetHashId(const char *hashInfo, size_t length);
uint64_t MsprofSysCycleTime(void);
int32_t MsprofRegTypeInfo(uint16_t level, uint32_t typeId, const char *typeName);
int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle);
int32_t MsprofReportAdditionalInfo(uint32_t agingFlag, const void *data, uint32_t length);
int32_t MsprofReportApi(uint32_t agingFlag, const struct MsprofApi *api);
int32_t MsprofReportCompactInfo(uint32_t agingFlag, const void *data, uint32_t length);

#ifdef __cplusplus
}
#endif

#endif
