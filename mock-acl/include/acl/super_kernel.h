/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Fusion of the kernels of a captured graph. C++ upstream; here plain C, the constants of aclskOptionType with the prefix ACLSK_OPTION_. */
#ifndef MOCK_ACL_SUPER_KERNEL_H_
#define MOCK_ACL_SUPER_KERNEL_H_

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aclskEarlyStartValue {
    ACLSK_EARLY_START_DISABLED = 0,
    ACLSK_EARLY_START_ENABLED = 1
} aclskEarlyStartValue;

typedef enum aclskOptionType {
    ACLSK_OPTION_SK_OPTION_MAX = 18,
    ACLSK_OPTION_PRELOAD_CODE = 0,
    ACLSK_OPTION_SPLIT_MODE = 1,
    ACLSK_OPTION_STREAM_FUSION = 2,
    ACLSK_OPTION_DEBUG_DCCI_DISABLE_ON_KERNEL = 3,
    ACLSK_OPTION_DCCI_DISABLE_ON_KERNEL = 3,
    ACLSK_OPTION_DEBUG_SYNC_ALL = 4,
    ACLSK_OPTION_KERNEL_MAP = 5,
    ACLSK_OPTION_CONSTANT_CODEGEN = 6,
    ACLSK_OPTION_AUTO_OP_PARALLEL = 7,
    ACLSK_OPTION_DCCI_BEFORE_KERNEL_START = 8,
    ACLSK_OPTION_DEBUG_OP_EXEC_TRACE = 9,
    ACLSK_OPTION_DEBUG_CROSS_CORE_SYNC_CHECK = 10,
    ACLSK_OPTION_OPT_EXTEND_OPTION = 11,
    ACLSK_OPTION_DEBUG_EXTEND_OPTION = 12,
    ACLSK_OPTION_DCCI_AFTER_KERNEL_END = 13,
    ACLSK_OPTION_AGGRESSIVE_OPT_STRATEGIES = 14,
    ACLSK_OPTION_UBUF_LOCK_IGNORE_KERNEL = 15,
    ACLSK_OPTION_EARLY_START = 16,
    ACLSK_OPTION_DEBUG_PER_OP_MAX_CORE_NUM = 17
} aclskOptionType;

typedef enum aclskValueBreakerBypassFlag {
    ACLSK_VALUE_BREAKER_BYPASS_NONE = 0,
    ACLSK_VALUE_BREAKER_BYPASS_PAIRED_WAIT = 1,
    ACLSK_VALUE_BREAKER_BYPASS_UNPAIRED_WAIT = 2
} aclskValueBreakerBypassFlag;

typedef struct aclskAggressiveOptStrategies {
    uint32_t eventBreakerBypass;
    uint32_t valueBreakerBypass;
    uint32_t taskBreakerBypass;
} aclskAggressiveOptStrategies;

typedef struct aclskAutoOpParallelOption {
    uint32_t enableAutoOpParallel;
} aclskAutoOpParallelOption;

typedef struct aclskConstantCodegenOption {
    uint32_t enableConstant;
} aclskConstantCodegenOption;

typedef struct aclskDcciOption {
    char **kernelNames;
    size_t kernelCnt;
} aclskDcciOption;

typedef struct aclskDebugCrossCoreSyncCheckOption {
    uint32_t enableCrossCoreSyncCheck;
} aclskDebugCrossCoreSyncCheckOption;

typedef struct aclskDebugOpExecTraceOption {
    uint32_t enableOpExecTrace;
} aclskDebugOpExecTraceOption;

typedef struct aclskDebugPerOpMaxCoreNumOption {
    uint32_t enableDebugPerOpMaxCoreNum;
} aclskDebugPerOpMaxCoreNumOption;

typedef struct aclskDebugSyncAllOption {
    uint32_t debugSyncAll;
} aclskDebugSyncAllOption;

typedef struct aclskEarlyStartOption {
    uint32_t enableEarlyStart;
} aclskEarlyStartOption;

typedef struct aclskExtendOption {
    char *value;
} aclskExtendOption;

typedef struct aclskKernelMap {
    char *globalName;
    char * sknlNames[4];
} aclskKernelMap;

typedef struct aclskKernelMapOption {
    aclskKernelMap *kernelMaps;
    size_t numKernels;
} aclskKernelMapOption;

typedef struct aclskPreloadOption {
    uint32_t preloadMode;
} aclskPreloadOption;

typedef struct aclskSplitModeOption {
    uint32_t splitCnt;
} aclskSplitModeOption;

typedef struct aclskStreamFusionOption {
    uint32_t streamFusion;
} aclskStreamFusionOption;

typedef struct aclskUbufLockIgnoreKernelOption {
    uint32_t ubufLockIgnoreKernelCnt;
    char **ubufLockIgnoreKernel;
} aclskUbufLockIgnoreKernelOption;

typedef struct aclskOption {
    aclskOptionType optionType;
    union {
        aclskPreloadOption preload;
        aclskSplitModeOption splitMode;
        aclskStreamFusionOption streamFusion;
        aclskDcciOption disableKernelDcci;
        aclskDebugSyncAllOption debugSync;
        aclskKernelMapOption kernelMap;
        aclskConstantCodegenOption constantCodegen;
        aclskAutoOpParallelOption autoOpParallel;
        aclskDcciOption dcciBeforeKernelStart;
        aclskDebugOpExecTraceOption debugOpExecTrace;
        aclskDebugCrossCoreSyncCheckOption debugCrossCoreSyncCheck;
        aclskExtendOption optExtend;
        aclskExtendOption debugExtend;
        aclskDcciOption dcciAfterKernelEnd;
        aclskAggressiveOptStrategies aggressiveOpts;
        aclskUbufLockIgnoreKernelOption ubufLockIgnoreKernel;
        aclskEarlyStartOption earlyStart;
        aclskDebugPerOpMaxCoreNumOption debugPerOpMaxCoreNum;
    };
} aclskOption;

typedef struct aclskOptions {
    aclskOption *options;
    size_t numOptions;
} aclskOptions;

aclError aclskOptimize(aclmdlRI model, aclskOptions *options);
aclError aclskScopeBegin(const char *scopeName, aclrtStream stream);
aclError aclskScopeEnd(const char *scopeName, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
