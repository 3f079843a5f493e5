/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAscendQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_ASCEND_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_ASCEND_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAscendQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, const aclTensor *offset, bool sqrtMode,
    const char *roundMode, int32_t dstType, const aclTensor *y, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnAscendQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
