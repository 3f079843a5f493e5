/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAminmaxAll. */
#ifndef MOCK_ACLNNOP_ACLNN_AMINMAX_ALL_H_
#define MOCK_ACLNNOP_ACLNN_AMINMAX_ALL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAminmaxAllGetWorkspaceSize(
    const aclTensor *self, aclTensor *minOut, aclTensor *maxOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnAminmaxAll(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
