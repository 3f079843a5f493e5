/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRightShift. */
#ifndef MOCK_ACLNNOP_ACLNN_RIGHT_SHIFT_H_
#define MOCK_ACLNNOP_ACLNN_RIGHT_SHIFT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRightShiftGetWorkspaceSize(
    const aclTensor *input, const aclTensor *shiftBits, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnRightShift(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
