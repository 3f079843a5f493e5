/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLogSpace. */
#ifndef MOCK_ACLNNOP_ACLNN_LOGSPACE_H_
#define MOCK_ACLNNOP_ACLNN_LOGSPACE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLogSpaceGetWorkspaceSize(
    const aclScalar *start, const aclScalar *end, int64_t steps, double base, const aclTensor *result,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnLogSpace(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
