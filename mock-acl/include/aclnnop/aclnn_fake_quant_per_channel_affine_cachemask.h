/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFakeQuantPerChannelAffineCachemask. */
#ifndef MOCK_ACLNNOP_ACLNN_FAKE_QUANT_PER_CHANNEL_AFFINE_CACHEMASK_H_
#define MOCK_ACLNNOP_ACLNN_FAKE_QUANT_PER_CHANNEL_AFFINE_CACHEMASK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFakeQuantPerChannelAffineCachemaskGetWorkspaceSize(
    const aclTensor *self, const aclTensor *scale, const aclTensor *zeroPoint, int64_t axis,
    int64_t quantMin, int64_t quantMax, aclTensor *out, aclTensor *mask, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnFakeQuantPerChannelAffineCachemask(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
