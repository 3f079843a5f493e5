/* The card that every device of the process is: MOCK_ACL_SOC. */
#ifndef MOCK_DEVICES_PROFILE_H_
#define MOCK_DEVICES_PROFILE_H_

#include <stdint.h>
#include "base/base.h"

/* (own choice: more devices than a server has) */
#define MOCK_MAX_DEVICES 16

typedef struct mock_profile {
    const char *soc; /* as aclrtGetSocName gives it */
    uint32_t ai_cores, vector_cores, ai_cpus;
    uint64_t l2_bytes, memory_bytes;
    int64_t npu_arch;
} mock_profile;

#endif
