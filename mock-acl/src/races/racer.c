/* Racers: what runs in an order of its own, and what it knows of the others. */
#include <stdlib.h>
#include <string.h>
#include "races/clock.h"
#include "races/races.h"

/* Streams and those inside of replays that live at one time. */
#define MOST_SLOTS 8192u
/* Marks that the tasks of one queue come after. What comes on top counts from the last of them on: too early. */
#define MOST_NEWS 256u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mock_link racers = {&racers, &racers}; /* all but the host */
static mock_racer host = {.all = {&host.all, &host.all}, .epoch = 1, .born = 1, .version = 1};
mock_racer *const mock_host_racer = &host;

typedef struct slot {
    mock_racer *racer;
    uint64_t epoch; /* the last of whoever had it before */
} slot;
static slot *slots;
static uint32_t slot_count = 1, slot_room;
static uint64_t turn; /* how often the checks began */

void mock_races_lock(void) { pthread_mutex_lock(&lock); }
void mock_races_unlock(void) { pthread_mutex_unlock(&lock); }

static bool knows(const mock_past *p, uint32_t slot, uint64_t epoch) {
    return p != NULL && slot < p->count && p->at[slot] >= epoch;
}

/* Whoever had the slot before is another racer. */
bool mock_racer_knows(const mock_racer *r, uint32_t slot, uint64_t epoch) {
    return (slot == r->slot && epoch >= r->born) || knows(r->past, slot, epoch);
}

mock_racer *mock_racer_at(uint32_t slot) {
    return slot == 0 ? &host : slot < slot_count && slots != NULL ? slots[slot].racer : NULL;
}

/* ---- knowing ---- */

static void changed(mock_racer *r) {
    r->version++;
    mock_mark_unref(r->own);
    r->own = NULL;
}

void mock_racer_advance(mock_racer *r) {
    if (!r->given) return;
    r->epoch++;
    r->given = false;
    changed(r);
}

void mock_racer_learn(mock_racer *r, const mock_mark *m) {
    if (m == NULL || !m->filled) return;
    if (m->slot != MOCK_NO_SLOT && mock_racer_knows(r, m->slot, m->epoch)) return;
    mock_racer_advance(r);
    mock_past_raise(&r->past, m);
    changed(r);
}

void mock_racer_join(mock_racer *r, const mock_mark *m) {
    if (r == NULL || m == NULL) return;
    mock_races_lock();
    mock_racer_learn(r, m);
    mock_races_unlock();
}

void mock_racer_follow(mock_racer *r, mock_racer *other) {
    if (r == NULL || other == NULL || r == other) return;
    mock_races_lock();
    mock_mark *m = mock_mark_now(other);
    mock_racer_learn(r, m);
    mock_mark_unref(m);
    mock_races_unlock();
}

/* ---- coming and going ---- */

/* A free slot whose last racer is over before this one begins is as good as a new one; of another one some races are
 * not seen. */
static uint32_t take_slot(const mock_mark *start) {
    uint32_t any = MOCK_NO_SLOT;
    for (uint32_t i = 1; i < slot_count; i++) {
        if (slots[i].racer != NULL) continue;
        any = i;
        if (start != NULL && knows(start->past, i, slots[i].epoch)) return i;
    }
    if (slot_count == MOST_SLOTS) return any;
    if (slot_count >= slot_room) {
        slot *grown = realloc(slots, (slot_room * 2 + 16) * sizeof *slots);
        if (grown == NULL) return any;
        slots = grown;
        slot_room = slot_room * 2 + 16;
    }
    slots[slot_count] = (slot){NULL, 0};
    return slot_count++;
}

/* A stream stays, and its tasks say from when they are. */
bool mock_racer_counts(const mock_racer *r) {
    if (r == &host) return true;
    if (r->done == NULL) return r->turn == turn;
    return atomic_load_explicit(r->done, memory_order_acquire) + 1 >= r->first;
}

void mock_racers_begin(void) {
    mock_races_lock();
    turn++;
    mock_races_unlock();
}

mock_racer *mock_racer_new(mock_racer *after) {
    if (after == NULL) return NULL;
    mock_racer *r = calloc(1, sizeof *r);
    if (r == NULL) {
        mock_races_give_up();
        return NULL;
    }
    mock_races_lock();
    mock_mark *start = mock_mark_now(after);
    r->slot = take_slot(start);
    if (r->slot == MOCK_NO_SLOT) {
        mock_mark_unref(start);
        mock_races_unlock();
        mock_races_give_up();
        free(r);
        return NULL;
    }
    slots[r->slot].racer = r;
    r->epoch = r->born = slots[r->slot].epoch + 1;
    r->turn = mock_racer_counts(after) ? turn : 0;
    mock_racer_learn(r, start);
    mock_mark_unref(start);
    if (after == &host) r->heard = host.version;
    mock_list_push(&racers, &r->all);
    mock_races_unlock();
    return r;
}

void mock_racer_free(mock_racer *r) {
    if (r == NULL) return;
    mock_races_lock();
    slots[r->slot] = (slot){NULL, r->epoch};
    mock_list_remove(&r->all);
    for (uint32_t i = 0; i < r->news_count; i++) mock_mark_unref(r->news[r->news_first + i].mark);
    mock_mark_unref(r->own);
    mock_past_unref(r->past);
    mock_races_unlock();
    free(r->news);
    free(r);
}

/* ---- streams ---- */

void mock_racer_serve(mock_racer *r, const _Atomic uint64_t *done, uint64_t first) {
    if (r == NULL) return;
    mock_races_lock();
    r->done = done;
    r->first = first;
    mock_races_unlock();
}

static bool room(mock_racer *r) {
    if (r->news_first + r->news_count < r->news_room) return true;
    if (r->news_count != 0) memmove(r->news, r->news + r->news_first, r->news_count * sizeof *r->news);
    r->news_first = 0;
    if (r->news_count < r->news_room) return true;
    mock_news *grown = realloc(r->news, (r->news_room * 2 + 4) * sizeof *grown);
    if (grown == NULL) return false;
    r->news = grown;
    r->news_room = r->news_room * 2 + 4;
    return true;
}

/* The later of two marks of the host has all of the earlier one. */
static void add_news(mock_racer *r, uint64_t seq, mock_mark *m) {
    if (m == NULL) return;
    if (r->news_count >= MOST_NEWS || !room(r)) {
        mock_racer_learn(r, m);
        return;
    }
    m->refs++;
    r->news[r->news_first + r->news_count++] = (mock_news){seq, m};
}

void mock_racer_queued(mock_racer *r, uint64_t seq) {
    if (r == NULL) return;
    mock_races_lock();
    r->last = seq;
    if (r->heard != host.version) {
        mock_mark *m = mock_mark_now(&host);
        add_news(r, seq, m);
        mock_mark_unref(m);
        r->heard = host.version;
    }
    mock_races_unlock();
}

void mock_racer_later(mock_racer *r, uint64_t seq, mock_mark *m) {
    if (r == NULL || m == NULL) return;
    mock_races_lock();
    add_news(r, seq, m);
    mock_races_unlock();
}

bool mock_racer_reach(mock_racer *r, uint64_t seq) {
    if (r == NULL) return false;
    mock_races_lock();
    while (r->news_count != 0 && r->news[r->news_first].seq <= seq) {
        mock_mark *m = r->news[r->news_first++].mark;
        if (--r->news_count == 0) r->news_first = 0;
        mock_racer_learn(r, m);
        mock_mark_unref(m);
    }
    const bool looked_at = seq >= r->first;
    mock_races_unlock();
    return looked_at;
}

/* ---- what everybody knows ---- */

/* What a stream with nothing to do does next, the host tells it by then. */
static bool idle(const mock_racer *r) {
    return r->done != NULL && r->news_count == 0 && atomic_load_explicit(r->done, memory_order_acquire) >= r->last;
}

static uint64_t known(const mock_racer *r, uint32_t slot) {
    const uint64_t past = r->past == NULL || slot >= r->past->count ? 0 : r->past->at[slot];
    return slot == r->slot && past + 1 >= r->born ? r->epoch : past;
}

uint64_t *mock_racers_floor(uint32_t *count) {
    uint64_t *floor = malloc(slot_count * sizeof *floor);
    *count = slot_count;
    if (floor == NULL) return NULL;
    for (uint32_t i = 0; i < slot_count; i++) floor[i] = known(&host, i);
    for (const mock_link *l = racers.next; l != &racers; l = l->next) {
        const mock_racer *r = MOCK_OWNER(l, mock_racer, all);
        const bool waits = idle(r);
        for (uint32_t i = 0; i < slot_count; i++) {
            uint64_t k = known(r, i);
            if (waits && k < known(&host, i)) k = known(&host, i);
            if (k < floor[i]) floor[i] = k;
        }
    }
    return floor;
}
