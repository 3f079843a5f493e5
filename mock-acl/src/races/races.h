/* What happens before what, and accesses to memory that nothing orders.
 *
 * A racer is whatever runs in an order of its own: a stream, one more stream inside of a replay, the host. It knows
 * what of the others is over before whatever it does next (a vector clock), and hands that on through marks: the
 * record of an event leaves a mark, the wait for it takes the mark up. An access that the racer of a later one knows
 * nothing of is a race, unless both read.
 *
 * All threads of the program are one racer: what orders them among themselves nobody here sees, so that calls of the
 * host count as ordered as they came. That can hide a race and never invents one; the same is true of every other
 * simplification in this room.
 *
 * Uses base alone. The engine says who runs, the rooms with streams and graphs who waits for whom, those with memory
 * what is touched. Any thread may call, with whatever locks: the lock of this room is a leaf. Racers and marks may be
 * NULL, as they are while nothing is checked. */
#ifndef MOCK_RACES_RACES_H_
#define MOCK_RACES_RACES_H_

#include "base/base.h"

typedef struct mock_racer mock_racer;
typedef struct mock_mark mock_mark;

/* MOCK_ACL_RACES_OFF and its neighbours. */
extern _Atomic int mock_races_mode;
static inline bool mock_races(void) {
    return MOCK_UNLIKELY(atomic_load_explicit(&mock_races_mode, memory_order_relaxed) != MOCK_ACL_RACES_OFF);
}

/* Who touches memory: a task, or a call of the host (`stream` -1). */
typedef struct mock_doing {
    const char *name; /* of the C function, a constant */
    int32_t stream;
    uint32_t graph; /* id, 0 outside of a graph */
    uint64_t task;  /* the how manieth of its stream, or of its graph */
} mock_doing;

/* FREES is a write, in other words. SIGNALS writes a word that others wait for: it is no race, and who meets it afterwards knows what the writer knew. */
typedef enum mock_touch { MOCK_READS, MOCK_WRITES, MOCK_FREES, MOCK_SIGNALS } mock_touch;

/* `bytes` from `from` on, and again at each stride, the innermost dimension first. */
#define MOCK_PIECE_DIMS 9
typedef struct mock_pieces {
    uint64_t from, bytes;
    unsigned rank;
    struct {
        uint64_t count, stride;
    } dims[MOCK_PIECE_DIMS];
} mock_pieces;

/* What the room leaves to those above it. */
typedef struct mock_race_rest {
    /* The live allocation around an address; false for none. */
    bool (*block)(const void *p, void **base, uint64_t *size);
} mock_race_rest;
extern const mock_race_rest mock_race_parts; /* memory/touch.c */

/* ---- races/racer.c ---- */
/* Starts with what `after` knows. NULL when there are too many, or no memory: then nothing is looked at any more. */
mock_racer *mock_racer_new(mock_racer *after);
void mock_racer_free(mock_racer *r);
extern mock_racer *const mock_host_racer;
/* It is a stream whose tasks from number `first` on are looked at; `done` says how many are over. */
void mock_racer_serve(mock_racer *r, const _Atomic uint64_t *done, uint64_t first);
/* The checks begin: of what runs, nobody saw all that it came after. */
void mock_racers_begin(void);
/* The host queued task `seq`, which comes after all that the host knows. */
void mock_racer_queued(mock_racer *r, uint64_t seq);
/* Task `seq` and what follows come after the mark. */
void mock_racer_later(mock_racer *r, uint64_t seq, mock_mark *m);
/* Its task `seq` begins. False for one that is not looked at. */
bool mock_racer_reach(mock_racer *r, uint64_t seq);
/* From here on it comes after the mark, or after what another one has done. */
void mock_racer_join(mock_racer *r, const mock_mark *m);
void mock_racer_follow(mock_racer *r, mock_racer *other);

/* ---- races/mark.c ---- */
/* What the racer has done and knows by now, with a reference for the caller. */
mock_mark *mock_mark_of(mock_racer *r);
/* A mark that nobody has reached: it orders nothing until it is filled, which happens once. */
mock_mark *mock_mark_open(void);
void mock_mark_fill(mock_mark *m, mock_racer *r);
mock_mark *mock_mark_more(mock_mark *m);
void mock_mark_less(mock_mark *m);
static inline mock_mark *mock_mark_ref(mock_mark *m) { return MOCK_UNLIKELY(m != NULL) ? mock_mark_more(m) : NULL; }
static inline void mock_mark_drop(mock_mark *m) {
    if (MOCK_UNLIKELY(m != NULL)) mock_mark_less(m);
}
/* The mark at a place is that of the racer as well from now on. */
void mock_mark_add(mock_mark **at, mock_racer *r);
/* Empties the place. */
static inline void mock_mark_clear(mock_mark **at) {
    if (MOCK_UNLIKELY(*at != NULL)) mock_mark_less(*at);
    *at = NULL;
}

/* ---- races/touch.c ---- */
/* Whether the access may go on: not when it races and races fail. */
bool mock_race_touch(mock_racer *r, const mock_doing *who, mock_touch kind, const mock_pieces *what);
/* The racer read a word that somebody wrote as a signal, in whatever way. */
void mock_race_heed(mock_racer *r, const void *word);
/* Nobody's accesses to these bytes count any more. */
void mock_race_forget(const void *p, uint64_t bytes);

/* ---- races/report.c ---- */
/* Forgets what was touched and reported. */
void mock_races_reset(void);

#endif
