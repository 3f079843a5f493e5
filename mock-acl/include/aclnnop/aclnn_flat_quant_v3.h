/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFlatQuantV3. */
#ifndef MOCK_ACLNNOP_ACLNN_FLAT_QUANT_V3_H_
#define MOCK_ACLNNOP_ACLNN_FLAT_QUANT_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFlatQuantV3GetWorkspaceSize(
    const aclTensor *x, const aclTensor *kroneckerP1, const aclTensor *kroneckerP2,
    const aclTensor *groupListOptional, double clipRatio, double dstTypeMax, int64_t groupListType,
    aclTensor *out, aclTensor *quantScale, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnFlatQuantV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
