/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDynamicQuantV2. */
#ifndef MOCK_ACLNNOP_ACLNN_DYNAMIC_QUANT_V2_H_
#define MOCK_ACLNNOP_ACLNN_DYNAMIC_QUANT_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDynamicQuantV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *groupIndexOptional,
    int64_t dstType, const aclTensor *yOut, const aclTensor *scaleOut, const aclTensor *offsetOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDynamicQuantV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
