/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnNsaCompressWithCache. */
#ifndef MOCK_ACLNNOP_ACLNN_NSA_COMPRESS_WITH_CACHE_H_
#define MOCK_ACLNNOP_ACLNN_NSA_COMPRESS_WITH_CACHE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnNsaCompressWithCacheGetWorkspaceSize(
    const aclTensor *input, const aclTensor *weight, const aclTensor *slotMapping,
    const aclIntArray *actSeqLenOptional, const aclTensor *blockTableOptional, char *layoutOptional,
    int64_t compressBlockSize, int64_t compressStride, int64_t actSeqLenType, int64_t pageBlockSize,
    aclTensor *outputCache, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnNsaCompressWithCache(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
