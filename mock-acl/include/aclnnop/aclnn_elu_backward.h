/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnEluBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_ELU_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_ELU_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnEluBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclScalar *alpha, const aclScalar *scale,
    const aclScalar *inputScale, bool isResult, const aclTensor *selfOrResult, aclTensor *gradInput,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnEluBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
