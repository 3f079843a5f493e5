/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBincount. */
#ifndef MOCK_ACLNNOP_ACLNN_BINCOUNT_H_
#define MOCK_ACLNNOP_ACLNN_BINCOUNT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBincountGetWorkspaceSize(
    const aclTensor *self, const aclTensor *weights, int64_t minlength, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBincount(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
