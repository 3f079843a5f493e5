/* Names of the libraries beside AscendCL that programs are linked with, beside.def: a stub each where the mock has
 * nothing, which names itself in the error text. Uses the devices. No other room uses it. */
#ifndef MOCK_TOOLKIT_TOOLKIT_H_
#define MOCK_TOOLKIT_TOOLKIT_H_

#include <stdint.h>

/* Of the driver's interface; its codes are positive (header: the driver's, ascend_hal_error). */
int drvGetDevNum(uint32_t *count);
int halGetAPIVersion(int32_t *version);

/* Of the profiler's. */
uint64_t MsprofGetHashId(const char *text, size_t length);
uint64_t MsprofSysCycleTime(void);
int32_t MsprofRegisterCallback(uint32_t module, int32_t (*handle)(uint32_t type, void *data, uint32_t length));
int32_t MsprofReportAdditionalInfo(uint32_t aging, const void *data, uint32_t length);
int32_t MsprofReportApi(uint32_t aging, const void *data);
int32_t MsprofReportCompactInfo(uint32_t aging, const void *data, uint32_t length);

#endif
