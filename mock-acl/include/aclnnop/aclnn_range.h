/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRange. */
#ifndef MOCK_ACLNNOP_ACLNN_RANGE_H_
#define MOCK_ACLNNOP_ACLNN_RANGE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRangeGetWorkspaceSize(
    const aclScalar *start, const aclScalar *end, const aclScalar *step, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnRange(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
