/* Operators that the mock does not compute: their stubs, and the functions of a program that compute them
 * (include/mock_acl_operator.h).
 *
 * Uses objects for what a first phase is told, memory and the engine for what its task does. The control interface
 * takes back what a program left. */
#ifndef MOCK_OPERATORS_OWN_OWN_H_
#define MOCK_OPERATORS_OWN_OWN_H_

#include "base/base.h"

/* ---- operators/own/operator.c ---- */
/* Takes back what the program computes itself. */
void mock_own_reset(void);

#endif
