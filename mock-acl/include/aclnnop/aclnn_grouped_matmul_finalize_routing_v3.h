/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupedMatmulFinalizeRoutingV3. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_V3_H_
#define MOCK_ACLNNOP_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupedMatmulFinalizeRoutingV3GetWorkspaceSize(
    const aclTensor *x1, aclTensor *x2, const aclTensor *scaleOptional, const aclTensor *biasOptional,
    const aclTensor *offsetOptional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *pertokenScaleOptional,
    const aclTensor *groupListOptional, const aclTensor *sharedInputOptional,
    const aclTensor *logitOptional, const aclTensor *rowIndexOptional, int64_t dtype,
    float sharedInputWeight, int64_t sharedInputOffset, bool transposeX1, bool transposeX2,
    int64_t groupListType, const aclIntArray *tuningConfigOptional, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGroupedMatmulFinalizeRoutingV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
