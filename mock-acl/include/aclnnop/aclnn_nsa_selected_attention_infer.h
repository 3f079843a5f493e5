/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnNsaSelectedAttentionInfer. */
#ifndef MOCK_ACLNNOP_ACLNN_NSA_SELECTED_ATTENTION_INFER_H_
#define MOCK_ACLNNOP_ACLNN_NSA_SELECTED_ATTENTION_INFER_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnNsaSelectedAttentionInferGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *topkIndices,
    const aclTensor *attenMaskOptional, const aclTensor *blockTableOptional,
    const aclIntArray *actualQSeqLenOptional, const aclIntArray *actualKvSeqLenOptional,
    char *layoutOptional, int64_t numHeads, int64_t numKeyValueHeads, int64_t selectBlockSize,
    int64_t selectBlockCount, int64_t pageBlockSize, double scaleValue, int64_t sparseMode,
    aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnNsaSelectedAttentionInfer(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
