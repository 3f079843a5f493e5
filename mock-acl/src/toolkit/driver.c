/* What programs ask of the driver without the runtime. */
#define _GNU_SOURCE
#include "base/base.h"
#include "devices/devices.h"
#include "toolkit/toolkit.h"

#define DRIVER_INVALID 3 /* (header: the driver's) */
/* One below the version from which clocks are asked of the driver, halGetDeviceInfo (own choice: it has none). */
#define DRIVER_VERSION 0x071904

/* Devices of the machine, also those that the process does not see: ASCEND_RT_VISIBLE_DEVICES is the runtime's (own
 * choice). */
MOCK_EXPORT int drvGetDevNum(uint32_t *count) {
    if (count == NULL) return DRIVER_INVALID;
    *count = mock_device_machine_count();
    return 0;
}

/* (own choice) */
MOCK_EXPORT int halGetAPIVersion(int32_t *version) {
    if (version == NULL) return DRIVER_INVALID;
    *version = DRIVER_VERSION;
    return 0;
}
