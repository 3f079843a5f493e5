/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnXlog1py. */
#ifndef MOCK_ACLNNOP_ACLNN_XLOG1PY_H_
#define MOCK_ACLNNOP_ACLNN_XLOG1PY_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnXlog1pyGetWorkspaceSize(
    const aclTensor *x, const aclTensor *y, const aclTensor *z, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnXlog1py(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
