/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnStridedSlice. */
#ifndef MOCK_ACLNNOP_ACLNN_STRIDED_SLICE_H_
#define MOCK_ACLNNOP_ACLNN_STRIDED_SLICE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnStridedSliceGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *begin, const aclIntArray *end, const aclIntArray *strides,
    int64_t beginMask, int64_t endMask, int64_t ellipsisMask, int64_t newAxisMask, int64_t shrinkAxisMask,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnStridedSlice(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
