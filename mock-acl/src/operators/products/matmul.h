/* Matrix products as operators: out = beta * self + alpha * x y, in any number of dimensions. */
#ifndef MOCK_OPERATORS_PRODUCTS_MATMUL_H_
#define MOCK_OPERATORS_PRODUCTS_MATMUL_H_

#include "objects/objects.h"

#define MOCK_MAX_BATCH_RANK 4

/* Which operands of the plan, in their order, are what; `self` is -1 where nothing is added. */
typedef struct mock_product_parts {
    int8_t self, x, y, out;
    int8_t math_type;
    bool turn_x, turn_y; /* the last two dimensions change places */
    bool add_up;         /* the products of a batch are added */
    bool same;           /* no promotion: all operands have one type */
    const int32_t *more; /* types beside f32, f16 and bf16 that the operands may have, ended by -1, or null */
    double alpha, beta;
    int32_t numbers;     /* the promoted type of alpha and beta, where it can change that of the result */
    const char *const *names; /* of the operands, for texts */
} mock_product_parts;

/* Fills the plan. Operands have 1 to 6 dimensions: a vector is one row (left) or one column (right), and
 * dimensions before the last two broadcast. False after a failure. */
bool mock_plan_product(mock_build *b, const mock_product_parts *parts);
aclError mock_run_product(void *plan);
void mock_require_rank(mock_build *b, unsigned index, const char *name, int rank);
/* Whether `v`, at `x`, surely shares an element with `w`, at `y`: both start at the same one, or both are
 * dense and overlap. */
bool mock_views_share(const mock_view *v, const void *x, const mock_view *w, const void *y);

#endif
