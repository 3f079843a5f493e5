/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnIndexAddV2. */
#ifndef MOCK_ACLNNOP_ACLNN_INDEX_ADD_V2_H_
#define MOCK_ACLNNOP_ACLNN_INDEX_ADD_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnIndexAddV2GetWorkspaceSize(
    const aclTensor *self, const int64_t dim, const aclTensor *index, const aclTensor *source,
    const aclScalar *alpha, int64_t mode, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnIndexAddV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
