/* Operators that the mock does not compute: their stubs, and the functions of a program that compute them
 * (include/mock_acl_operator.h).
 *
 * Uses objects. The control interface takes back what a program left. */
#ifndef MOCK_OPERATORS_OWN_OWN_H_
#define MOCK_OPERATORS_OWN_OWN_H_

#include "base/base.h"

/* ---- operators/own/operator.c ---- */
/* Takes back what the program computes itself. */
void mock_own_reset(void);

#endif
