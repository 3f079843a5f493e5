/* Operators that copy, convert, make, join, pad or move elements.
 *
 * Uses objects and the shared part. Elements and places use its copy. */
#ifndef MOCK_OPERATORS_MOVES_MOVES_H_
#define MOCK_OPERATORS_MOVES_MOVES_H_

#include "objects/objects.h"

/* ---- operators/moves/copy.c ---- */
/* Every element of `from`, which broadcasts to the shape of `to`, converted where the types differ. The
 * pointers are the first elements. */
void mock_copy_view(const mock_view *to, void *to_first, const mock_view *from, void *from_first);

#endif
