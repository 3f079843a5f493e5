/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnIsClose. */
#ifndef MOCK_ACLNNOP_ACLNN_ISCLOSE_H_
#define MOCK_ACLNNOP_ACLNN_ISCLOSE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnIsCloseGetWorkspaceSize(
    const aclTensor *self, const aclTensor *other, double rtol, double atol, bool equalNan, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnIsClose(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
