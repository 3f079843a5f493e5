/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplacePut. */
#ifndef MOCK_ACLNNOP_ACLNN_PUT_H_
#define MOCK_ACLNNOP_ACLNN_PUT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplacePutGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *index, const aclTensor *source, bool accumulate,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplacePut(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
