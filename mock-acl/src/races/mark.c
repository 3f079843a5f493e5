/* Marks: what a racer knew at one moment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "races/clock.h"
#include "races/races.h"

void mock_races_give_up(void) {
    if (atomic_exchange(&mock_races_mode, MOCK_ACL_RACES_OFF) == MOCK_ACL_RACES_OFF) return;
    fputs("mock-acl: no host memory: races are not looked for any more\n", stderr);
}

void mock_past_unref(mock_past *p) {
    if (p != NULL && --p->refs == 0) free(p);
}

/* A vector of one's own in the place of a shared one, of at least `count` slots; false without memory. */
static bool own_past(mock_past **at, uint32_t count) {
    mock_past *old = *at;
    const uint32_t had = old == NULL ? 0 : old->count;
    if (old != NULL && old->refs == 1 && had >= count) return true;
    const uint32_t room = had > count ? had : count;
    mock_past *p = calloc(1, sizeof *p + room * sizeof p->at[0]);
    if (p == NULL) {
        mock_races_give_up();
        return false;
    }
    if (had != 0) memcpy(p->at, old->at, had * sizeof p->at[0]);
    p->refs = 1;
    p->count = room;
    mock_past_unref(old);
    *at = p;
    return true;
}

bool mock_past_raise(mock_past **at, const mock_mark *m) {
    uint32_t count = m->past == NULL ? 0 : m->past->count;
    if (m->slot != MOCK_NO_SLOT && m->slot >= count) count = m->slot + 1;
    if (count == 0) return true;
    if (!own_past(at, count)) return false;
    uint64_t *to = (*at)->at;
    for (uint32_t i = 0; m->past != NULL && i < m->past->count; i++)
        if (to[i] < m->past->at[i]) to[i] = m->past->at[i];
    if (m->slot != MOCK_NO_SLOT && to[m->slot] < m->epoch) to[m->slot] = m->epoch;
    return true;
}

static mock_mark *new_mark(void) {
    mock_mark *m = calloc(1, sizeof *m);
    if (m == NULL) {
        mock_races_give_up();
        return NULL;
    }
    m->refs = 1;
    m->slot = MOCK_NO_SLOT;
    return m;
}

void mock_mark_unref(mock_mark *m) {
    if (m == NULL || --m->refs != 0) return;
    mock_past_unref(m->past);
    free(m);
}

static void fill(mock_mark *m, mock_racer *r) {
    m->slot = r->slot;
    m->epoch = r->epoch;
    m->past = r->past;
    if (m->past != NULL) m->past->refs++;
    m->filled = true;
    r->given = true;
}

mock_mark *mock_mark_now(mock_racer *r) {
    if (r->own == NULL) {
        r->own = new_mark();
        if (r->own == NULL) return NULL;
        fill(r->own, r);
    }
    r->own->refs++;
    return r->own;
}

mock_mark *mock_mark_of(mock_racer *r) {
    if (r == NULL) return NULL;
    mock_races_lock();
    mock_mark *m = mock_mark_now(r);
    mock_races_unlock();
    return m;
}

mock_mark *mock_mark_open(void) {
    return new_mark();
}

void mock_mark_fill(mock_mark *m, mock_racer *r) {
    if (m == NULL || r == NULL) return;
    mock_races_lock();
    if (!m->filled) fill(m, r);
    mock_races_unlock();
}

mock_mark *mock_mark_more(mock_mark *m) {
    mock_races_lock();
    m->refs++;
    mock_races_unlock();
    return m;
}

void mock_mark_less(mock_mark *m) {
    mock_races_lock();
    mock_mark_unref(m);
    mock_races_unlock();
}

static mock_mark *sum(mock_mark *a, mock_mark *b) {
    mock_mark *m = new_mark();
    if (m == NULL) return NULL;
    m->filled = true;
    if (mock_past_raise(&m->past, a) && mock_past_raise(&m->past, b)) return m;
    mock_mark_unref(m);
    return NULL;
}

void mock_mark_add(mock_mark **at, mock_racer *r) {
    if (r == NULL) return;
    mock_races_lock();
    mock_mark *old = *at, *now = mock_mark_now(r);
    const bool newer = old == NULL || (old->slot != MOCK_NO_SLOT && mock_racer_knows(r, old->slot, old->epoch));
    mock_mark *both = newer || now == NULL ? NULL : sum(old, now);
    if (both != NULL) {
        mock_mark_unref(now);
        now = both;
    }
    if (now != NULL) {
        *at = now;
        mock_mark_unref(old);
    }
    mock_races_unlock();
}
