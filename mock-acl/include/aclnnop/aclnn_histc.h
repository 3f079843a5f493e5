/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnHistc. */
#ifndef MOCK_ACLNNOP_ACLNN_HISTC_H_
#define MOCK_ACLNNOP_ACLNN_HISTC_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnHistcGetWorkspaceSize(
    const aclTensor *self, int64_t bins, const aclScalar *min, const aclScalar *max, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnHistc(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
