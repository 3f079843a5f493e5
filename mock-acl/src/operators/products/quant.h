/* What quantised products share: operands of types that no other operator takes, and batches. */
#ifndef MOCK_OPERATORS_PRODUCTS_QUANT_H_
#define MOCK_OPERATORS_PRODUCTS_QUANT_H_

#include "objects/objects.h"

/* Element `at` from the first one of the operand's storage: -8 to 7. */
static inline int mock_nibble(const uint8_t *bytes, int64_t at) {
    const int value = bytes[at / 2] >> (at % 2 * 4) & 15;
    return (value ^ 8) - 8;
}

/* An operand that may have any type; the operator checks it. Null is 161001. */
const mock_view *mock_build_quantised(mock_build *b, const aclTensor *tensor, const char *param);
/* The same for one that may be stored as FRACTAL_NZ. */
const mock_view *mock_build_weight(mock_build *b, const aclTensor *tensor, const char *param);
/* A parameter that this operator of the mock does not compute with: 161002 unless it is null. */
void mock_refuse_tensor(mock_build *b, const aclTensor *tensor, const char *param);
/* The bytes that an INT4 operand starts in; two elements in a byte, the first one in the low half (own
 * choice). NULL outside of one live block. */
const uint8_t *mock_plan_nibbles(const mock_plan *plan, unsigned index);

#endif
