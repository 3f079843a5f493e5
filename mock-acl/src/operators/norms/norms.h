/* Operators that weigh the elements of a line or a channel against each other: norms, softmax, losses, gated
 * units.
 *
 * Uses objects and the shared part. No room uses it: programs call its operators. */
#ifndef MOCK_OPERATORS_NORMS_NORMS_H_
#define MOCK_OPERATORS_NORMS_NORMS_H_

#include "base/base.h"

#endif
