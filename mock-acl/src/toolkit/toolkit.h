/* Names of the libraries beside AscendCL that programs are linked with, beside.def: a stub each where the mock has
 * nothing, which names itself in the error text. Uses the devices. No other room uses it. */
#ifndef MOCK_TOOLKIT_TOOLKIT_H_
#define MOCK_TOOLKIT_TOOLKIT_H_

#include <stdint.h>
#include "profiling/aprof_pub.h"
#include "securec.h"

/* Of the driver's interface; its codes are positive (header: the driver's, ascend_hal_error). */
int drvGetDevNum(uint32_t *count);
int halGetAPIVersion(int32_t *version);

#endif
