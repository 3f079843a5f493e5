/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUP_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_GROUP_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, const aclTensor *groupIndex,
    const aclTensor *offsetOptional, int32_t dstType, aclTensor *y, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGroupQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
