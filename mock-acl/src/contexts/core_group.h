/* Groups of computing units. */
#ifndef MOCK_CORE_GROUP_H_
#define MOCK_CORE_GROUP_H_

#include "engine/core.h"

void mock_core_groups_reset(void);

#endif
