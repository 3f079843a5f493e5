/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGeGlu, aclnnGeGluV3. */
#ifndef MOCK_ACLNNOP_ACLNN_GEGLU_H_
#define MOCK_ACLNNOP_ACLNN_GEGLU_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGeGluGetWorkspaceSize(
    const aclTensor *self, int64_t dim, int64_t approximate, aclTensor *out, aclTensor *outGelu,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGeGlu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnGeGluV3GetWorkspaceSize(
    const aclTensor *self, int64_t dim, int64_t approximate, bool activateLeft, aclTensor *out,
    aclTensor *outGelu, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGeGluV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
