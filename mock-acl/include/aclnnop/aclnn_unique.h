/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnUnique. */
#ifndef MOCK_ACLNNOP_ACLNN_UNIQUE_H_
#define MOCK_ACLNNOP_ACLNN_UNIQUE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnUniqueGetWorkspaceSize(
    const aclTensor *self, bool sorted, bool returnInverse, aclTensor *valueOut, aclTensor *inverseOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnUnique(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
