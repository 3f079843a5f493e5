/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnHardshrinkBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_HARDSHRINK_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_HARDSHRINK_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnHardshrinkBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclScalar *lambd, aclTensor *gradInput,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnHardshrinkBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
