/* Operators that weigh the elements of a line or a channel against each other: norms, softmax, losses, gated units.
 *
 * Uses the shared part. */
#ifndef MOCK_OPERATORS_NORMS_NORMS_H_
#define MOCK_OPERATORS_NORMS_NORMS_H_

#include "base/base.h"

#endif
