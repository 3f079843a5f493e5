/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupedMatmulAdd. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUPED_MATMUL_ADD_H_
#define MOCK_ACLNNOP_ACLNN_GROUPED_MATMUL_ADD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupedMatmulAddGetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight, const aclTensor *groupList, aclTensor *yRef,
    bool transposeX, bool transposeWeight, int64_t groupType, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGroupedMatmulAdd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
