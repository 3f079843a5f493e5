/* Operators of windows that slide: convolution, pooling, columns.
 *
 * Uses objects, the shared part and the product. No room uses it: programs call its operators. */
#ifndef MOCK_OPERATORS_WINDOWS_WINDOWS_H_
#define MOCK_OPERATORS_WINDOWS_WINDOWS_H_

#include "base/base.h"

#endif
