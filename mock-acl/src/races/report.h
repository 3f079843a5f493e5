/* Accesses that nothing orders, on their way to the program. */
#ifndef MOCK_RACES_REPORT_H_
#define MOCK_RACES_REPORT_H_

#include "races/races.h"

/* An earlier access that a later one does not come after, and the bytes of both. */
typedef struct mock_conflict {
    const void *id;
    mock_doing who;
    mock_touch kind;
    uint64_t from, to;
} mock_conflict;

#define MOCK_CONFLICTS 8
typedef struct mock_conflicts {
    mock_conflict at[MOCK_CONFLICTS];
    unsigned count;
} mock_conflicts;

/* ---- races/report.c ---- */
/* Once for each pair; without the lock of the room. */
void mock_race_report(const mock_conflict *earlier, const mock_doing *who, mock_touch kind);

/* ---- races/touch.c ---- */
/* Everybody's accesses to whatever bytes. */
void mock_race_forget_all(void);

#endif
