/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnTransQuantParamV3. */
#ifndef MOCK_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_V3_H_
#define MOCK_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnTransQuantParamV3GetWorkspaceSize(
    const aclTensor *scale, const aclTensor *offset, int64_t roundMode, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnTransQuantParamV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
