/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnStd. */
#ifndef MOCK_ACLNNOP_ACLNN_STD_H_
#define MOCK_ACLNNOP_ACLNN_STD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnStdGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, const int64_t correction, bool keepdim, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnStd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
