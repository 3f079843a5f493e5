/* Slabs of equal objects with a free list per thread: creating and destroying a descriptor takes no lock.
 *
 * No rule of the real library is behind this file. */
#ifndef MOCK_OBJECTS_SLAB_H_
#define MOCK_OBJECTS_SLAB_H_

#include <stddef.h>
#include "base/base.h"

/* The first member of every object in a slab. */
typedef struct mock_slot {
    struct mock_slot *next;
} mock_slot;

typedef enum mock_slab_id {
    MOCK_SLAB_TENSOR,
    MOCK_SLAB_SCALAR,
    MOCK_SLAB_ARRAY,
    MOCK_SLAB_LIST,
    MOCK_SLAB_PLAN,
    MOCK_SLABS
} mock_slab_id;

/* An object with undefined content; NULL when memory is out. */
void *mock_slab_take(mock_slab_id id);
void mock_slab_give(mock_slab_id id, void *object);

#endif
