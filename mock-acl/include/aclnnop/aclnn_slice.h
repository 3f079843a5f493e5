/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSlice. */
#ifndef MOCK_ACLNNOP_ACLNN_SLICE_H_
#define MOCK_ACLNNOP_ACLNN_SLICE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSliceGetWorkspaceSize(
    const aclTensor *self, int64_t dim, int64_t start, int64_t end, int64_t step, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSlice(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
