/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCummax. */
#ifndef MOCK_ACLNNOP_ACLNN_CUMMAX_H_
#define MOCK_ACLNNOP_ACLNN_CUMMAX_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCummaxGetWorkspaceSize(
    const aclTensor *self, int64_t dim, aclTensor *valuesOut, aclTensor *indicesOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnCummax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
