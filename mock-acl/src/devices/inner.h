/* What devices/devices.c offers inside of its room. */
#ifndef MOCK_DEVICES_INNER_H_
#define MOCK_DEVICES_INNER_H_

#include "base/base.h"

/* The number that the machine has for a device of the program. */
int32_t mock_device_logic(int32_t user_id);
/* The reverse; -1 for a device that is not visible. */
int32_t mock_device_user(int32_t logic_id);

#endif
