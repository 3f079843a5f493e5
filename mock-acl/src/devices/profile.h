/* The card that every device of the process is: MOCK_ACL_SOC. */
#ifndef MOCK_PROFILE_H_
#define MOCK_PROFILE_H_

#include <stdint.h>

typedef struct mock_profile {
    const char *soc; /* as aclrtGetSocName gives it */
    uint32_t ai_cores, vector_cores, ai_cpus;
    uint64_t l2_bytes, memory_bytes;
    int64_t npu_arch;
} mock_profile;

/* Read once from the environment; never NULL. */
const mock_profile *mock_profile_get(void);

#endif
