/* What streams/overflow.c offers inside of its room. */
#ifndef MOCK_STREAMS_OVERFLOW_H_
#define MOCK_STREAMS_OVERFLOW_H_

#include "base/base.h"

/* The overflow mode of new streams. */
aclrtFloatOverflowMode mock_saturation(void);

#endif
