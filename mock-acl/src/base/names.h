#ifndef MOCK_LOOKUP_H_
#define MOCK_LOOKUP_H_

#include <stdint.h>

/* The position of an exported name in base/exports.def, which is also its mock_api value; -1 for an unknown name.
 */
int mock_lookup_index(const char *name);
const char *mock_lookup_name(int index);
void *mock_lookup_address(int index);

#endif
