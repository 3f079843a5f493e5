/* Part of racl (mock-acl). Loads the kernels of the tests. */
#ifndef MOCK_TESTS_KERNELS_H_
#define MOCK_TESTS_KERNELS_H_

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "acl/acl.h"

/* A file one or two folders above the program, which is where the Makefile puts the kernels. */
static inline const char *beside(const char *name) {
    static char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    path[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) slash = path;
    snprintf(slash, 64, "/../%s", name);
    if (access(path, F_OK) != 0) snprintf(slash, 64, "/../../%s", name);
    return path;
}

#define KERNELS "kernels.so"
#define KERNELS_OF_ANOTHER_VERSION "kernels-other.so"
#endif
