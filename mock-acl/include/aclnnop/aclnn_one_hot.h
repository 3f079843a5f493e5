/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnOneHot. */
#ifndef MOCK_ACLNNOP_ACLNN_ONE_HOT_H_
#define MOCK_ACLNNOP_ACLNN_ONE_HOT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnOneHotGetWorkspaceSize(
    const aclTensor *self, int numClasses, const aclTensor *onValue, const aclTensor *offValue,
    int64_t axis, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnOneHot(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
