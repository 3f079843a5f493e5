/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceQuantScatterV2. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANT_SCATTER_V2_H_
#define MOCK_ACLNNOP_ACLNN_QUANT_SCATTER_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceQuantScatterV2GetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *indices, const aclTensor *updates, const aclTensor *quantScales,
    const aclTensor *quantZeroPoints, int64_t axis, int64_t quantAxis, int64_t reduction,
    const char *roundMode, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceQuantScatterV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
