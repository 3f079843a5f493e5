/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnVarMean. */
#ifndef MOCK_ACLNNOP_ACLNN_VAR_MEAN_H_
#define MOCK_ACLNNOP_ACLNN_VAR_MEAN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnVarMeanGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, int64_t correction, bool keepdim, aclTensor *varOut,
    aclTensor *meanOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnVarMean(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
