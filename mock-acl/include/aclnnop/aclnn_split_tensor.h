/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSplitTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_SPLIT_TENSOR_H_
#define MOCK_ACLNNOP_ACLNN_SPLIT_TENSOR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSplitTensorGetWorkspaceSize(
    const aclTensor *self, uint64_t splitSections, int64_t dim, aclTensorList *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSplitTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
