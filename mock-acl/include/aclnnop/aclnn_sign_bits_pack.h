/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSignBitsPack. */
#ifndef MOCK_ACLNNOP_ACLNN_SIGN_BITS_PACK_H_
#define MOCK_ACLNNOP_ACLNN_SIGN_BITS_PACK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSignBitsPackGetWorkspaceSize(
    const aclTensor *self, int64_t size, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSignBitsPack(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
