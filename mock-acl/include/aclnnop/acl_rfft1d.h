/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclRfft1D. */
#ifndef MOCK_ACLNNOP_ACL_RFFT1D_H_
#define MOCK_ACLNNOP_ACL_RFFT1D_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclRfft1DGetWorkspaceSize(
    const aclTensor *self, int64_t n, int64_t dim, int64_t norm, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclRfft1D(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
