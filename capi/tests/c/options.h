/* Marks for checks of what structs say. c.rs looks that each field that a program can set has its marks: that it does
 * what it says, and that a value that it cannot have is refused, where there is such a value. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "plans.h"

#define MARKED(of, field, what)                                                                                        \
    do {                                                                                                               \
        (void)offsetof(of, field);                                                                                     \
        CHECK(what);                                                                                                   \
    } while (0)

#define GOOD(of, field, what) MARKED(of, field, what)
#define BAD(of, field, what) MARKED(of, field, what)
/* Good, and no value is bad. */
#define ANY(of, field, what) MARKED(of, field, what)

#endif
