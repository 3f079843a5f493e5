/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDequantRopeQuantKvcache. */
#ifndef MOCK_ACLNNOP_ACLNN_DEQUANT_ROPE_QUANT_KVCACHE_H_
#define MOCK_ACLNNOP_ACLNN_DEQUANT_ROPE_QUANT_KVCACHE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDequantRopeQuantKvcacheGetWorkspaceSize(
    const aclTensor *x, const aclTensor *cos, const aclTensor *sin, aclTensor *kCacheRef,
    aclTensor *vCacheRef, const aclTensor *indices, const aclTensor *scaleK, const aclTensor *scaleV,
    const aclTensor *offsetKOptional, const aclTensor *offsetVOptional,
    const aclTensor *weightScaleOptional, const aclTensor *activationScaleOptional,
    const aclTensor *biasOptional, const aclIntArray *sizeSplits, char *quantModeOptional,
    char *layoutOptional, bool kvOutput, char *cacheModeOptional, const aclTensor *qOut,
    const aclTensor *kOut, const aclTensor *vOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDequantRopeQuantKvcache(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
