/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceMaskedScatter. */
#ifndef MOCK_ACLNNOP_ACLNN_MASKED_SCATTER_H_
#define MOCK_ACLNNOP_ACLNN_MASKED_SCATTER_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceMaskedScatterGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *mask, const aclTensor *source, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceMaskedScatter(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
