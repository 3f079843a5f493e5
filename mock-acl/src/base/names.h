/* The exported names by their numbers. */
#ifndef MOCK_BASE_NAMES_H_
#define MOCK_BASE_NAMES_H_

#include <stdint.h>

const char *mock_lookup_name(int index);

#endif
