/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSignBitsUnpack. */
#ifndef MOCK_ACLNNOP_ACLNN_SIGN_BITS_UNPACK_H_
#define MOCK_ACLNNOP_ACLNN_SIGN_BITS_UNPACK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSignBitsUnpackGetWorkspaceSize(
    const aclTensor *self, int64_t size, aclDataType dtype, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnSignBitsUnpack(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
