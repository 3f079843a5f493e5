/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* The place of the codes of the graph engine in sets up to CANN 9.0. */
#ifndef MOCK_GE_GE_ERROR_CODES_H_
#define MOCK_GE_GE_ERROR_CODES_H_

#include "acl/error_codes/ge_error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif



#ifdef __cplusplus
}
#endif

#endif
