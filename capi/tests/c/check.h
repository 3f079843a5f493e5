/* Checks of the tests in C. A check that fails ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "racl.h"

static int checks;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s\n    last error: %s %s: %s\n", __FILE__, __LINE__, #what,                       \
                    racl_status_name(racl_last_error_status()), racl_last_error_call(), racl_last_error_message());    \
            exit(1);                                                                                                   \
        }                                                                                                              \
        ++checks;                                                                                                      \
    } while (0)

/* What only has to succeed. */
#define DO(what) CHECK((what) == RACL_OK)

#endif
