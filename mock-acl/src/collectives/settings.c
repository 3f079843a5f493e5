/* What HCCL says of itself and is told for the whole process. */
#include "collectives/comm.h"

MOCK_EXPORT const char *HcclGetErrorString(HcclResult code) {
    mock_hccl_enter(MOCK_API_HcclGetErrorString);
    static const char *const words[] = {"no error", "parameter error", "null pointer", "memory error",
        "internal error", "not supported", "not found", "not available", "system call failed", "time-out",
        "a file cannot be opened", "connecting by TCP failed", "connecting by RoCE failed",
        "a transfer by TCP failed", "a transfer by RoCE failed", "the runtime failed", "the driver failed",
        "profiling failed", "CCE failed", "the network failed", "try again", "a remote rank failed",
        "suspending", "repeating the operation failed", "out of memory"};
    return (unsigned)code < sizeof words / sizeof *words ? words[code] : "unknown error";
}

MOCK_EXPORT uint32_t HcclGetCommConfigCapability(void) {
    mock_hccl_enter(MOCK_API_HcclGetCommConfigCapability);
    return HCCL_COMM_CONFIG_RESERVED;
}

/* Sums are added in the order of the ranks, always: both settings do the same (own choice). */
static _Atomic int32_t deterministic;

MOCK_EXPORT HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
    HCCL_ENTER(HcclSetConfig);
    if (config != HCCL_DETERMINISTIC) return mock_hccl(HCCL_E_NOT_SUPPORT, "setting %d", (int)config);
    if (configValue.value < 0 || configValue.value > 2)
        return mock_hccl(HCCL_E_PARA, "HCCL_DETERMINISTIC is 0, 1 or 2, not %d", configValue.value);
    atomic_store(&deterministic, configValue.value);
    return 0;
}

MOCK_EXPORT HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue) {
    HCCL_ENTER(HcclGetConfig);
    if (configValue == NULL) return mock_hccl(HCCL_E_PTR, "configValue must not be null");
    if (config != HCCL_DETERMINISTIC) return mock_hccl(HCCL_E_NOT_SUPPORT, "setting %d", (int)config);
    configValue->value = atomic_load(&deterministic);
    return 0;
}

void mock_hccl_settings_reset(void) { atomic_store(&deterministic, 0); }
