/* Racers and marks from the inside. With the lock of the room. */
#ifndef MOCK_RACES_CLOCK_H_
#define MOCK_RACES_CLOCK_H_

#include "races/races.h"

/* How far each slot is known; never changed while more than one has it. */
typedef struct mock_past {
    uint32_t refs, count;
    uint64_t at[];
} mock_past;

#define MOCK_NO_SLOT UINT32_MAX

/* Of one racer at one epoch, or of several: then without a slot. */
struct mock_mark {
    uint32_t refs, slot;
    uint64_t epoch;
    mock_past *past;
    bool filled;
};

/* Something to know from a task on. */
typedef struct mock_news {
    uint64_t seq;
    mock_mark *mark;
} mock_news;

/* Whoever knows a slot up to an epoch knows all that its racer knew when it gave that epoch away. So the epoch grows
 * with whatever the racer does or learns after that. */
struct mock_racer {
    mock_link all;
    uint32_t slot;
    uint64_t epoch, born;
    uint64_t turn; /* which begin of the checks it is of, where it is no stream */
    bool given; /* the epoch is in a mark */
    mock_past *past;
    mock_mark *own; /* of now, NULL until somebody asks */
    /* Of a stream. */
    const _Atomic uint64_t *done;
    uint64_t first, last;
    uint64_t heard; /* version of the host that its last task came after */
    mock_news *news;
    uint32_t news_first, news_count, news_room;
    uint64_t version; /* grows with epoch and past */
};

/* ---- races/racer.c ---- */
void mock_races_lock(void);
void mock_races_unlock(void);
bool mock_racer_knows(const mock_racer *r, uint32_t slot, uint64_t epoch);
/* What it does now was seen from its beginning on: the checks did not begin meanwhile. */
bool mock_racer_counts(const mock_racer *r);
/* Before it does or learns something. */
void mock_racer_advance(mock_racer *r);
void mock_racer_learn(mock_racer *r, const mock_mark *m);
/* Who has a slot now, NULL for nobody. */
mock_racer *mock_racer_at(uint32_t slot);
/* How far everybody knows each slot, `count` of them: what lies before is before all that is still to come. NULL
 * without memory. */
uint64_t *mock_racers_floor(uint32_t *count);

/* ---- races/mark.c ---- */
/* An order could not be kept: whatever would be reported from here on may be none, so nothing is looked at any more. */
void mock_races_give_up(void);
mock_mark *mock_mark_now(mock_racer *r);
void mock_mark_unref(mock_mark *m);
void mock_past_unref(mock_past *p);
/* False without memory. */
bool mock_past_raise(mock_past **at, const mock_mark *m);

#endif
