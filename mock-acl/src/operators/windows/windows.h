/* Operators of windows that slide: convolution, pooling, columns.
 *
 * Uses the shared part and the product. */
#ifndef MOCK_OPERATORS_WINDOWS_WINDOWS_H_
#define MOCK_OPERATORS_WINDOWS_WINDOWS_H_

#include "base/base.h"

#endif
