/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupedMatMulAlltoAllv. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUPED_MAT_MUL_ALLTO_ALLV_H_
#define MOCK_ACLNNOP_ACLNN_GROUPED_MAT_MUL_ALLTO_ALLV_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupedMatMulAlltoAllvGetWorkspaceSize(
    const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *sendCountsTensorOptional,
    const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional,
    const aclTensor *mmWeightOptional, const char *group, int64_t epWorldSize,
    const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight,
    aclTensor *y, aclTensor *mmYOptional, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGroupedMatMulAlltoAllv(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
