/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceScatter, aclnnInplaceScatterValue, aclnnScatter, aclnnScatterValue. */
#ifndef MOCK_ACLNNOP_ACLNN_SCATTER_H_
#define MOCK_ACLNNOP_ACLNN_SCATTER_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceScatterGetWorkspaceSize(
    aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclTensor *src, int64_t reduce,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceScatter(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceScatterValueGetWorkspaceSize(
    aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclScalar *value, int64_t reduce,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceScatterValue(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnScatterGetWorkspaceSize(
    const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src, int64_t reduce,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnScatter(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnScatterValueGetWorkspaceSize(
    const aclTensor *self, int64_t dim, const aclTensor *index, const aclScalar *value, int64_t reduce,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnScatterValue(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
