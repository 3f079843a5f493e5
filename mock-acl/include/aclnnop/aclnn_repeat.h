/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRepeat. */
#ifndef MOCK_ACLNNOP_ACLNN_REPEAT_H_
#define MOCK_ACLNNOP_ACLNN_REPEAT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRepeatGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *repeats, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnRepeat(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
