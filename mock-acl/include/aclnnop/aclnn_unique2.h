/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnUnique2. */
#ifndef MOCK_ACLNNOP_ACLNN_UNIQUE2_H_
#define MOCK_ACLNNOP_ACLNN_UNIQUE2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnUnique2GetWorkspaceSize(
    const aclTensor *self, bool sorted, bool returnInverse, bool returnCounts, aclTensor *valueOut,
    aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnUnique2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
