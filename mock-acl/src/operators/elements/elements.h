/* Operators that compute each element on its own: arithmetic, comparisons, activations, choices, lists of tensors.
 *
 * Uses objects, the shared part, and moves for copies. No room uses it: programs call its operators. */
#ifndef MOCK_OPERATORS_ELEMENTS_ELEMENTS_H_
#define MOCK_OPERATORS_ELEMENTS_ELEMENTS_H_

#include "base/base.h"

#endif
