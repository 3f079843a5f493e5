/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMrgbaCustom. */
#ifndef MOCK_ACLNNOP_ACLNN_MRGBA_CUSTOM_H_
#define MOCK_ACLNNOP_ACLNN_MRGBA_CUSTOM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMrgbaCustomGetWorkspaceSize(
    const aclTensor *rgb, const aclTensor *alpha, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnMrgbaCustom(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
