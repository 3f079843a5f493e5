/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupedMatMulAllReduce. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUPED_MAT_MUL_ALL_REDUCE_H_
#define MOCK_ACLNNOP_ACLNN_GROUPED_MAT_MUL_ALL_REDUCE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupedMatMulAllReduceGetWorkspaceSize(
    const aclTensorList *x, const aclTensorList *weight, const aclTensorList *bias,
    const aclIntArray *groupListOptional, int64_t splitItem, const char *group, const char *reduceOp,
    int64_t commTurn, int64_t streamMode, const aclTensorList *y, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGroupedMatMulAllReduce(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
