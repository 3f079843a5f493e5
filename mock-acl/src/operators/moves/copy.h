/* Copies between views. */
#ifndef MOCK_OP_COPY_H_
#define MOCK_OP_COPY_H_

#include "objects/object.h"

/* Every element of `from`, which broadcasts to the shape of `to`, converted where the types differ. The
 * pointers are the first elements. */
void mock_copy_view(const mock_view *to, void *to_first, const mock_view *from, void *from_first);

#endif
