/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMedian, aclnnMedianDim, aclnnNanMedian, aclnnNanMedianDim. */
#ifndef MOCK_ACLNNOP_ACLNN_MEDIAN_H_
#define MOCK_ACLNNOP_ACLNN_MEDIAN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMedianGetWorkspaceSize(
    const aclTensor *self, aclTensor *valuesOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMedian(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnMedianDimGetWorkspaceSize(
    const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut, aclTensor *indicesOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMedianDim(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnNanMedianGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnNanMedian(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnNanMedianDimGetWorkspaceSize(
    const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut, aclTensor *indicesOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnNanMedianDim(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
