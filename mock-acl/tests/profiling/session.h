/* Files of a recorded session. */
#ifndef TESTS_PROFILING_SESSION_H_
#define TESTS_PROFILING_SESSION_H_

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include "check.h"

/* The path of a session's file; its folder is named after its number, the time and letters. */
static void session_path(const char *folder, unsigned number, const char *file, char *path, size_t size) {
    char start[32];
    snprintf(start, sizeof start, "PROF_%06u_", number);
    path[0] = '\0';
    DIR *all = opendir(folder);
    CHECK(all != NULL);
    for (const struct dirent *one = readdir(all); one != NULL; one = readdir(all))
        if (strncmp(one->d_name, start, strlen(start)) == 0)
            snprintf(path, size, "%s/%s/%s", folder, one->d_name, file);
    closedir(all);
}

#endif
