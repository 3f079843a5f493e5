/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAminmax. */
#ifndef MOCK_ACLNNOP_ACLNN_AMINMAX_H_
#define MOCK_ACLNNOP_ACLNN_AMINMAX_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAminmaxGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *minOut, aclTensor *maxOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAminmax(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
