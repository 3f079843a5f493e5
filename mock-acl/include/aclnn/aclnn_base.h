/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Start and end of the operator library. */
#ifndef MOCK_ACLNN_ACLNN_BASE_H_
#define MOCK_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFinalize(void);
aclnnStatus aclnnInit(const char *configPath);

#ifdef __cplusplus
}
#endif

#endif
