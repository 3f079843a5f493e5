/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAscendAntiQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_ASCEND_ANTI_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_ASCEND_ANTI_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAscendAntiQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, const aclTensor *offset, int64_t dstType, bool sqrtMode,
    const aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAscendAntiQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
