/* What convolutions, transposed or not, have in common. */
#ifndef MOCK_OPERATORS_WINDOWS_CONV_H_
#define MOCK_OPERATORS_WINDOWS_CONV_H_

#include "objects/objects.h"

/* Windows or elements of the input that are multiplied at a time. */
#define MOCK_CONV_BLOCK 512

/* The order of the operands. */
enum { INPUT, WEIGHT, BIAS, OUT };

/* All weights as f32, in row-major order. */
void mock_conv_weights(const mock_plan *plan, char *from, float *to);
float mock_conv_bias(const mock_plan *plan, char *const *first, int64_t channel);

/* ---- windows/transposed.c ---- */
/* The operands are there, of types and ranks that were checked. */
void mock_conv_transposed(mock_build *b, int axes, int64_t groups, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, const aclIntArray *outputPadding);
aclError mock_conv_transposed_run(const mock_plan *plan);

#endif
