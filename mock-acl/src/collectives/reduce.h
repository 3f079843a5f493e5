/* Arithmetic of reductions. */
#ifndef MOCK_COLLECTIVES_REDUCE_H_
#define MOCK_COLLECTIVES_REDUCE_H_

#include "hccl/hccl_types.h"

/* Whether this operation is there for this type (guide: HCCL, HcclAllReduce: products of int16 and bfp16 are not). */
int mock_reduces(HcclDataType type, HcclReduceOp op);
/* What `sum` holds for `count` elements while they are reduced: half precision is widened. */
uint64_t mock_reduce_bytes(HcclDataType type, uint64_t count);
void mock_reduce_first(HcclDataType type, void *sum, const void *from, uint64_t count);
void mock_reduce_next(HcclDataType type, HcclReduceOp op, void *sum, const void *from, uint64_t count);
void mock_reduce_last(HcclDataType type, const void *sum, void *to, uint64_t count);

#endif
