/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCummin. */
#ifndef MOCK_ACLNNOP_ACLNN_CUMMIN_H_
#define MOCK_ACLNNOP_ACLNN_CUMMIN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCumminGetWorkspaceSize(
    const aclTensor *self, int64_t dim, aclTensor *valuesOut, aclTensor *indicesOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnCummin(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
