/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Profiling: sessions, subscriptions, ranges and marks. */
#ifndef MOCK_ACL_ACL_PROF_H_
#define MOCK_ACL_ACL_PROF_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags and limits. */
#define ACL_PROF_ACL_API 0x0001ULL
#define ACL_PROF_AICORE_METRICS 0x0004ULL
#define ACL_PROF_AICORE_SHAPE 0x800000000ULL
#define ACL_PROF_AICPU 0x0008ULL
#define ACL_PROF_API_STATS 0x400000000ULL
#define ACL_PROF_EVENT_ATTR_VERSION 1
#define ACL_PROF_GE_API_L0 0x0200ULL
#define ACL_PROF_GE_API_L1 0x01000000ULL
#define ACL_PROF_HCCL_TRACE 0x0020ULL
#define ACL_PROF_L2CACHE 0x0010ULL
#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65
#define ACL_PROF_MSPROFTX 0x0080ULL
#define ACL_PROF_OP_ATTR 0x4000ULL
#define ACL_PROF_RUNTIME_API 0x0100ULL
#define ACL_PROF_TASK_MEMORY 0x1000ULL
#define ACL_PROF_TASK_TIME 0x0002ULL
#define ACL_PROF_TASK_TIME_L0 0x0800ULL
#define ACL_PROF_TASK_TIME_L2 0x2000ULL
#define ACL_PROF_TASK_TIME_L3 0x8000ULL
#define ACL_PROF_TENSOR_DATA_SHAPE_LEN 8
#define ACL_PROF_TRAINING_TRACE 0x0040ULL

/* Handles. */
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStepInfo aclprofStepInfo;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;

typedef enum aclprofConfigType {
    ACL_PROF_ARGS_MIN = 0,
    ACL_PROF_STORAGE_LIMIT = 1,
    ACL_PROF_AIV_METRICS = 2,
    ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
    ACL_PROF_LLC_MODE = 4,
    ACL_PROF_SYS_IO_FREQ = 5,
    ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
    ACL_PROF_DVPP_FREQ = 7,
    ACL_PROF_HOST_SYS = 8,
    ACL_PROF_HOST_SYS_USAGE = 9,
    ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
    ACL_PROF_ARGS_MAX = 17,
    ACL_PROF_LOW_POWER_FREQ = 11,
    ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
    ACL_PROF_SYS_CPU_FREQ = 13,
    ACL_PROF_OPTYPE = 14,
    ACL_PROF_NTS_METRICS = 15,
    ACL_PROF_PATH = 16
} aclprofConfigType;

typedef enum aclprofAicoreMetrics {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_UTILIZATION = 1,
    ACL_AICORE_MEMORY_BANDWIDTH = 2,
    ACL_AICORE_L0B_AND_WIDTH = 3,
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
    ACL_AICORE_MEMORY_UB = 5,
    ACL_AICORE_L2_CACHE = 6,
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
    ACL_AICORE_MEMORY_ACCESS = 8,
    ACL_AICORE_NONE = 255
} aclprofAicoreMetrics;

typedef enum aclprofMessageType {
    ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0
} aclprofMessageType;

typedef enum aclprofStepTag {
    ACL_STEP_START = 0,
    ACL_STEP_END = 1
} aclprofStepTag;

typedef enum aclprofSubscribeOpAttri {
    ACL_SUBSCRIBE_ATTRI_THREADID = 0,
    ACL_SUBSCRIBE_ATTRI_NONE = 1
} aclprofSubscribeOpAttri;

typedef enum aclprofSubscribeOpFlag {
    ACL_SUBSCRIBE_OP = 0,
    ACL_SUBSCRIBE_SUBGRAPH = 1,
    ACL_SUBSCRIBE_OP_THREAD = 2,
    ACL_SUBSCRIBE_NONE = 255
} aclprofSubscribeOpFlag;

typedef struct aclprofTensor {
    uint32_t type;
    uint32_t format;
    uint32_t dataType;
    uint32_t shapeDim;
    uint32_t shape[8];
} aclprofTensor;

typedef struct aclprofTensorInfo {
    uint64_t opNameId;
    uint64_t opTypeId;
    uint32_t resv;
    uint32_t tensorNum;
    uint32_t kernelType;
    uint32_t blockNums;
    void *stream;
    aclprofTensor *tensors;
} aclprofTensorInfo;

typedef struct aclprofEventAttributes {
    uint16_t version;
    uint16_t size;
    uint32_t messageType;
    union Message {
        aclprofTensorInfo *tensorInfo;
    } message;
} aclprofEventAttributes;

/** Chooses devices, metrics and data of a profile. */
aclprofConfig *aclprofCreateConfig(
    uint32_t *deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
    const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig);
void *aclprofCreateStamp(void);
aclprofStepInfo *aclprofCreateStepInfo(void);
aclprofSubscribeConfig *aclprofCreateSubscribeConfig(
    int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void *fd);
/** Frees the choice. */
aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig);
void aclprofDestroyStamp(void *stamp);
void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo);
aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig);
/** Ends profiling. */
aclError aclprofFinalize(void);
size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index);
const char *aclprofGetOpAttriValue(
    const void *opInfo, size_t opInfoLen, uint32_t index, aclprofSubscribeOpAttri attri);
aclError aclprofGetOpDescSize(size_t *opDescSize);
uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index);
uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index);
aclprofSubscribeOpFlag aclprofGetOpFlag(const void *opInfo, size_t opInfoLen, uint32_t index);
aclError aclprofGetOpName(
    const void *opInfo, size_t opInfoLen, uint32_t index, char *opName, size_t opNameLen);
aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opNameLen);
aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber);
uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index);
aclError aclprofGetOpType(
    const void *opInfo, size_t opInfoLen, uint32_t index, char *opType, size_t opTypeLen);
aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opTypeLen);
aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream);
/** Starts profiling into a folder. */
aclError aclprofInit(const char *profilerResultPath, size_t length);
aclError aclprofMark(void *stamp);
aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream);
aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig *profSubscribeConfig);
aclError aclprofModelUnSubscribe(uint32_t modelId);
aclError aclprofPop(void);
aclError aclprofPush(void *stamp);
aclError aclprofRangePop(void);
aclError aclprofRangePushEx(aclprofEventAttributes *attr);
aclError aclprofRangeStart(void *stamp, uint32_t *rangeId);
aclError aclprofRangeStop(uint32_t rangeId);
aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength);
aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen);
/** Starts collecting. */
aclError aclprofStart(const aclprofConfig *profilerConfig);
/** Ends collecting. */
aclError aclprofStop(const aclprofConfig *profilerConfig);
uint64_t aclprofStr2Id(const char *message);

#ifdef __cplusplus
}
#endif

#endif
