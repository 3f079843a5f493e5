/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnHeaviside. */
#ifndef MOCK_ACLNNOP_ACLNN_HEAVISIDE_H_
#define MOCK_ACLNNOP_ACLNN_HEAVISIDE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnHeavisideGetWorkspaceSize(
    const aclTensor *input, const aclTensor *values, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnHeaviside(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
