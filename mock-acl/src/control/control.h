/* The control interface of include/mock_acl.h: gates, running until idle, live handles, the reset of everything.
 *
 * The outermost room: uses what it takes back, and no room uses it. */
#ifndef MOCK_CONTROL_CONTROL_H_
#define MOCK_CONTROL_CONTROL_H_

#include "base/base.h"

#endif
