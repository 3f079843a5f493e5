/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnArange. */
#ifndef MOCK_ACLNNOP_ACLNN_ARANGE_H_
#define MOCK_ACLNNOP_ACLNN_ARANGE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnArangeGetWorkspaceSize(
    const aclScalar *start, const aclScalar *end, const aclScalar *step, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnArange(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
