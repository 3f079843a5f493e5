/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSplitWithSize. */
#ifndef MOCK_ACLNNOP_ACLNN_SPLIT_WITH_SIZE_H_
#define MOCK_ACLNNOP_ACLNN_SPLIT_WITH_SIZE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSplitWithSizeGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *splitSize, int64_t dim, aclTensorList *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSplitWithSize(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
