/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSliceV2. */
#ifndef MOCK_ACLNNOP_ACLNN_SLICE_V2_H_
#define MOCK_ACLNNOP_ACLNN_SLICE_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSliceV2GetWorkspaceSize(
    const aclTensor *self, const aclIntArray *starts, const aclIntArray *ends, const aclIntArray *axes,
    const aclIntArray *steps, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSliceV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
