/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnResize. */
#ifndef MOCK_ACLNNOP_ACLNN_RESIZE_H_
#define MOCK_ACLNNOP_ACLNN_RESIZE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnResizeGetWorkspaceSize(
    const aclTensor *self, const aclFloatArray *scales, const char *mode, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnResize(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
