/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnVar, aclnnVarCorrection. */
#ifndef MOCK_ACLNNOP_ACLNN_VAR_H_
#define MOCK_ACLNNOP_ACLNN_VAR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnVarGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, bool unbiased, bool keepdim, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnVar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnVarCorrectionGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, int64_t correction, bool keepdim, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnVarCorrection(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
