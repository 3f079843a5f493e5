/* Operators that make random numbers: normal, uniform and whole ones, trials, dropout, permutations, samples.
 *
 * Uses objects and the shared part. No room uses it: programs call its operators. */
#ifndef MOCK_OPERATORS_RANDOM_RANDOM_H_
#define MOCK_OPERATORS_RANDOM_RANDOM_H_

#include "base/base.h"

#endif
