/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnTransQuantParam. */
#ifndef MOCK_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H_
#define MOCK_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnTransQuantParam(
    const float *scaleArray, uint64_t scaleSize, const float *offsetArray, uint64_t offsetSize,
    uint64_t **quantParam, uint64_t *quantParamSize);

#ifdef __cplusplus
}
#endif

#endif
