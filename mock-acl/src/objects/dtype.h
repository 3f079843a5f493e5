/* Element types: sizes, names, promotion, and conversion of rows to and from the three types that kernels
 * compute in.
 *
 * f16 and bf16 are computed in f32 and rounded once, when the result is stored, to the nearest, ties to
 * even (own choice). Integers are computed in 64 bits and stored by their low bits, two's complement (own
 * choice). Supported: f32, f16, bf16, f64, s8, u8, s16, s32, s64 and bool. Others are refused with 161002
 * (own choice: fewer than the guide has). */
#ifndef MOCK_OBJECTS_DTYPE_H_
#define MOCK_OBJECTS_DTYPE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/base.h"

/* A kernel computes in float, double or int64_t. */
typedef enum mock_class { MOCK_CLASS_NONE = -1, MOCK_F32, MOCK_F64, MOCK_I64, MOCK_CLASSES } mock_class;

typedef struct mock_dtype {
    const char *name;
    uint8_t size;
    int8_t class;
    uint8_t order;
} mock_dtype;

/* NULL for a value that is no data type. Class NONE: known, but no operator of the mock takes it. */
const mock_dtype *mock_dtype_info(int32_t dtype);

#endif
