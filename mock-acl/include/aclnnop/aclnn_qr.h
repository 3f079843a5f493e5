/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQr. */
#ifndef MOCK_ACLNNOP_ACLNN_QR_H_
#define MOCK_ACLNNOP_ACLNN_QR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQrGetWorkspaceSize(
    const aclTensor *self, bool some, aclTensor *Q, aclTensor *R, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnQr(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
