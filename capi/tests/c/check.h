/* Checks of the tests in C. A check that fails ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "racl.h"

/* Callbacks check on threads of racl; what they count puts nothing else in order. */
static atomic_int checks;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s\n    last error: %s %s: %s\n", __FILE__, __LINE__, #what,                       \
                    racl_status_name(racl_last_error_status()), racl_last_error_call(), racl_last_error_message());    \
            exit(1);                                                                                                   \
        }                                                                                                              \
        atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);                                                   \
    } while (0)

/* What only has to succeed. */
#define DO(what) CHECK((what) == RACL_OK)

#endif
