/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclStft. */
#ifndef MOCK_ACLNNOP_ACL_STFT_H_
#define MOCK_ACLNNOP_ACL_STFT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclStftGetWorkspaceSize(
    const aclTensor *self, const aclTensor *windowOptional, aclTensor *out, int64_t nFft,
    int64_t hopLength, int64_t winLength, bool normalized, bool onesided, bool returnComplex,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclStft(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
