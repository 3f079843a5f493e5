/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnComplex. */
#ifndef MOCK_ACLNNOP_ACLNN_COMPLEX_H_
#define MOCK_ACLNNOP_ACLNN_COMPLEX_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnComplexGetWorkspaceSize(
    const aclTensor *real, const aclTensor *imag, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnComplex(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
