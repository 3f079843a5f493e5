/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGeluQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_GELU_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_GELU_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGeluQuantGetWorkspaceSize(
    const aclTensor *self, const aclTensor *inputScaleOptional, const aclTensor *inputOffsetOptional,
    const char *approximate, const char *quantMode, const char *roundMode, int64_t dstType,
    const aclTensor *y, const aclTensor *outScaleOptional, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGeluQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
