/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSort. */
#ifndef MOCK_ACLNNOP_ACLNN_SORT_H_
#define MOCK_ACLNNOP_ACLNN_SORT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSortGetWorkspaceSize(
    const aclTensor *self, bool stable, int64_t dim, bool descending, aclTensor *valuesOut,
    aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSort(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
