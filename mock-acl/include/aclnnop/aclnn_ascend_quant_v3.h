/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAscendQuantV3. */
#ifndef MOCK_ACLNNOP_ACLNN_ASCEND_QUANT_V3_H_
#define MOCK_ACLNNOP_ACLNN_ASCEND_QUANT_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAscendQuantV3GetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, const aclTensor *offset, bool sqrtMode,
    const char *roundMode, int32_t dstType, int32_t axis, const aclTensor *y, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnAscendQuantV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
