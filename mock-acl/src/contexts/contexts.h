/* Contexts and the process: devices that are set and reset, contexts of the program, groups of computing units,
 * initialisation with its configuration, snapshots.
 *
 * Uses streams and graphs, which a context takes along when it goes, devices, memory for what a group shares, and
 * the engine. Profiling reads its configuration; the control interface resets it. */
#ifndef MOCK_CONTEXTS_CONTEXTS_H_
#define MOCK_CONTEXTS_CONTEXTS_H_

#include "base/base.h"

/* ---- contexts/config.c ---- */
/* The text of a JSON file: 100003 without one, 100006 when it is not JSON. The caller frees it. */
aclError mock_read_config(const char *path, char **text);

/* ---- contexts/context.c ---- */
void mock_contexts_reset(void);

/* ---- contexts/core_group.c ---- */
void mock_core_groups_reset(void);

/* ---- contexts/init.c ---- */
void mock_init_reset(void);
bool mock_initialized(void);
/* Who is told the configuration of aclInit that names a dump, and null for aclFinalize. */
extern _Atomic(aclError (*)(const char *json)) mock_dump_told;

/* ---- contexts/snapshot.c ---- */
void mock_snapshot_reset(void);

#endif
