/* Which devices the process sees, and by which numbers. A user id counts the visible devices and is what
 * every call takes; a logic id counts those of the machine; physical ids are the logic ones, as outside
 * of containers (guide: device management, aclrtGetLogicDevIdByUserDevId). */
#ifndef MOCK_DEVICES_H_
#define MOCK_DEVICES_H_

#include "engine/core.h"

/* mock_device_count (engine/core.h) counts the visible ones, mock_device_check (contexts/context.h) takes a user id. */
int32_t mock_device_logic(int32_t user_id);
/* -1 for a device that is not visible. */
int32_t mock_device_user(int32_t logic_id);

#endif
