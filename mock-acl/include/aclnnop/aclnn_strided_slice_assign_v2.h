/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnStridedSliceAssignV2. */
#ifndef MOCK_ACLNNOP_ACLNN_STRIDED_SLICE_ASSIGN_V2_H_
#define MOCK_ACLNNOP_ACLNN_STRIDED_SLICE_ASSIGN_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnStridedSliceAssignV2GetWorkspaceSize(
    aclTensor *varRef, const aclTensor *inputValue, const aclIntArray *begin, const aclIntArray *end,
    const aclIntArray *strides, const aclIntArray *axesOptional, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnStridedSliceAssignV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
