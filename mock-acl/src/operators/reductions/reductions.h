/* Operators that fold, scan, count or order a dimension.
 *
 * Uses objects, the shared part, and places for what counts by index. No room uses it: programs call its
 * operators. */
#ifndef MOCK_OPERATORS_REDUCTIONS_REDUCTIONS_H_
#define MOCK_OPERATORS_REDUCTIONS_REDUCTIONS_H_

#include "base/base.h"

#endif
