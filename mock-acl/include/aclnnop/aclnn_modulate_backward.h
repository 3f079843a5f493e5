/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnModulateBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_MODULATE_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_MODULATE_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnModulateBackwardGetWorkspaceSize(
    const aclTensor *grad_output, const aclTensor *input, const aclTensor *scale, const aclTensor *shift,
    const aclTensor *grad_input, const aclTensor *grad_scale, const aclTensor *grad_shift,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnModulateBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
