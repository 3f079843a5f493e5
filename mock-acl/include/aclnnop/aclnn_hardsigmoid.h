/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnHardsigmoid, aclnnInplaceHardsigmoid. */
#ifndef MOCK_ACLNNOP_ACLNN_HARDSIGMOID_H_
#define MOCK_ACLNNOP_ACLNN_HARDSIGMOID_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnHardsigmoidGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnHardsigmoid(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnInplaceHardsigmoidGetWorkspaceSize(
    const aclTensor *self, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceHardsigmoid(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
