/* What the files of dumps share. */
#ifndef MOCK_PROFILING_DUMP_H_
#define MOCK_PROFILING_DUMP_H_

#include "base/base.h"

#define MOCK_DUMP_PATH_LIMIT 4000

/* ---- profiling/dump.c ---- */
/* The folder of exceptions, with a slash at its end; false when they are not dumped. */
bool mock_dump_exceptions(char *out, size_t size);
/* Whoever receives dumps came or went. */
void mock_dump_changed(void);

/* ---- profiling/dump_out.c ---- */
bool mock_dump_received(void);
/* Sends the file to the program's function; false when there is none. */
bool mock_dump_send(const char *name, const char *data, size_t size);
void mock_dump_out_reset(void);

#endif
