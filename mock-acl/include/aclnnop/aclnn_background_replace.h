/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBackgroundReplace. */
#ifndef MOCK_ACLNNOP_ACLNN_BACKGROUND_REPLACE_H_
#define MOCK_ACLNNOP_ACLNN_BACKGROUND_REPLACE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBackgroundReplaceGetWorkspaceSize(
    const aclTensor *bkg, const aclTensor *src, const aclTensor *mask, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBackgroundReplace(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
