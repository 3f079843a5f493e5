/* Elements of a view by their indices, for operators that visit them one by one. */
#ifndef MOCK_OP_PLACE_H_
#define MOCK_OP_PLACE_H_

#include "objects/dtype.h"
#include "operators/walk.h"

/* The element at the indices `i`, as many as the view has dimensions; `first` is its first element. */
char *mock_place(const mock_view *v, char *first, const int64_t *i);
/* The next indices in row-major order; false after the last, when they are all 0 again. */
bool mock_next(const mock_view *v, int64_t *i);
/* The same without dimension `dim`, whose index stays. */
bool mock_next_but(const mock_view *v, int dim, int64_t *i);

/* One element of type `dtype`, of any type that has a class. */
double mock_read_real(int32_t dtype, const char *at);
int64_t mock_read_whole(int32_t dtype, const char *at);
void mock_write_real(int32_t dtype, char *at, double value);
void mock_write_whole(int32_t dtype, char *at, int64_t value);

/* Fails for a tensor that is neither null nor alive, of a parameter that is no operand. */
void mock_require_live(mock_build *b, const aclTensor *tensor, const char *param);

/* The first element of every operand, NULL for an absent one; false for a bad address. */
bool mock_plan_pointers(const mock_plan *plan, char **first);

#endif
