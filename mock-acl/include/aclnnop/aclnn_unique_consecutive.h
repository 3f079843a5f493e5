/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnUniqueConsecutive. */
#ifndef MOCK_ACLNNOP_ACLNN_UNIQUE_CONSECUTIVE_H_
#define MOCK_ACLNNOP_ACLNN_UNIQUE_CONSECUTIVE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnUniqueConsecutiveGetWorkspaceSize(
    const aclTensor *self, bool returnInverse, bool returnCounts, int64_t dim, aclTensor *valueOut,
    aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnUniqueConsecutive(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
