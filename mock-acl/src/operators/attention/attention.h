/* Attention in its versions: of a prompt, of one row, in training.
 *
 * Uses objects, the shared part and the product. No room uses it: programs call its operators. */
#ifndef MOCK_OPERATORS_ATTENTION_ATTENTION_H_
#define MOCK_OPERATORS_ATTENTION_ATTENTION_H_

#include "base/base.h"

#endif
