/* Loops that readers and writers of chosen elements share. Each gives NULL after a failure; the data is
 * operand 0 but where it is named. */
#ifndef MOCK_OPERATORS_PLACES_INDICES_H_
#define MOCK_OPERATORS_PLACES_INDICES_H_

#include "objects/objects.h"
#include "operators/places/loop.h"

/* The last dimension of `indices` has the first indices of the data: [..., k]. The loop has the other
 * dimensions of the indices, then the rest of the data. */
mock_places *mock_plan_nd(mock_build *b, mock_effect effect, int data, int indices, bool wraps);
/* Operand 1 counts the elements of the data. */
mock_places *mock_plan_linear(mock_build *b, mock_effect effect);
/* The list that is operand 1 has an index tensor for each of the first dimensions: as in PyTorch, they
 * broadcast to one shape, which stands where the first of them is, or first of all when they are apart. One
 * without elements stands for its whole dimension, of whatever type; where all are such, nothing is written
 * (implementation of the open operators): an index of PyTorch that chose nothing looks the same. */
mock_places *mock_plan_indices(mock_build *b, mock_effect effect);
/* Whether the list has a member without elements. */
bool mock_some_are_whole(const mock_plan *plan);
/* A loop without a turn. */
mock_places *mock_plan_nothing(mock_build *b, mock_effect effect);

#endif
