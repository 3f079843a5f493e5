/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantMax. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANT_MAX_H_
#define MOCK_ACLNNOP_ACLNN_QUANT_MAX_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantMaxGetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, char *roundMode, int64_t dstType, const aclTensor *y,
    const aclTensor *amax, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnQuantMax(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
