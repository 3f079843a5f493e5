/* Operators that read or write elements which indices choose.
 *
 * Uses objects, the shared part, and moves for copies. Reductions that count use its loop. */
#ifndef MOCK_OPERATORS_PLACES_PLACES_H_
#define MOCK_OPERATORS_PLACES_PLACES_H_

#include "objects/objects.h"
#include "operators/places/loop.h"

/* ---- operators/places/loop.c ---- */
aclError mock_places_run(void *arg);
/* A loop over `dims`; room for `lookups` and `numbers` behind them. NULL after a failure. */
mock_places *mock_places_new(
    mock_build *b, mock_effect effect, int data, int rank, const int64_t *dims, int lookups, size_t numbers);
/* Lookup k: operand `index`, which is used along dimension `size` of the data with `step`. */
mock_lookup *mock_places_lookup(mock_places *p, int k, int operand, int64_t step, int64_t size);
/* The workspace of effects that compute; also fills the number that stands for a missing operand. */
void mock_places_finish(mock_build *b, mock_places *p, const mock_scalar *value);
void mock_require_index(mock_build *b, const mock_view *index, const char *param);
void mock_require_type(mock_build *b, const mock_view *v, const char *param, const mock_view *self);

#endif
