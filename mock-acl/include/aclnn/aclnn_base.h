/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Start and end of the operator library. */
#ifndef MOCK_ACLNN_ACLNN_BASE_H_
#define MOCK_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Ends the operator library. */
aclnnStatus aclnnFinalize(void);
/** Starts the operator library; the path of a JSON configuration may be null. */
aclnnStatus aclnnInit(const char *configPath);

#ifdef __cplusplus
}
#endif

#endif
