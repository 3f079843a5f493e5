/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSearchSorted, aclnnSearchSorteds. */
#ifndef MOCK_ACLNNOP_ACLNN_SEARCHSORTED_H_
#define MOCK_ACLNNOP_ACLNN_SEARCHSORTED_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSearchSortedGetWorkspaceSize(
    const aclTensor *sortedSequence, const aclTensor *self, bool outInt32, bool right,
    const aclTensor *sorter, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSearchSorted(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnSearchSortedsGetWorkspaceSize(
    const aclTensor *sortedSequence, const aclScalar *self, const bool outInt32, const bool right,
    const aclTensor *sorter, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSearchSorteds(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
