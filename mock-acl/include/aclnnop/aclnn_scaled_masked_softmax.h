/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnScaledMaskedSoftmax. */
#ifndef MOCK_ACLNNOP_ACLNN_SCALED_MASKED_SOFTMAX_H_
#define MOCK_ACLNNOP_ACLNN_SCALED_MASKED_SOFTMAX_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnScaledMaskedSoftmaxGetWorkspaceSize(
    const aclTensor *x, const aclTensor *mask, double scale, bool fixedTriuMask, aclTensor *y,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnScaledMaskedSoftmax(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
