/* An access: what of the earlier ones it does not come after, and what is remembered of it.
 *
 * Of a range the last write is kept, and the reads since then that do not know of each other: whoever comes after these
 * comes after all that were before them, too. */
#include <stdlib.h>
#include "races/clock.h"
#include "races/ranges.h"
#include "races/report.h"

/* Of an access in many pieces, as a column of a matrix, the first ones are looked at. */
#define MOST_PIECES 16384u
/* With more ranges everything is forgotten: a race may then not be seen. */
#define MOST_RANGES (UINT64_C(1) << 19)
#define FEW_RANGES 4096u

_Atomic int mock_races_mode;
static uint64_t sweep_at = FEW_RANGES;

/* One call of mock_race_touch. */
typedef struct looking {
    mock_racer *racer;
    mock_access *access;
    mock_conflicts found;
    mock_readers *seen, *made; /* the latest readers that this one was added to, and what it gave */
} looking;

/* ---- conflicts ---- */

static void keep(mock_conflicts *c, const mock_access *a, uint64_t from, uint64_t to) {
    for (unsigned i = 0; i < c->count; i++) {
        if (c->at[i].id != a) continue;
        if (c->at[i].from > from) c->at[i].from = from;
        if (c->at[i].to < to) c->at[i].to = to;
        return;
    }
    if (c->count < MOCK_CONFLICTS) c->at[c->count++] = (mock_conflict){a, a->who, a->kind, from, to};
}

static void heed(mock_racer *r, const mock_access *a) {
    if (mock_racer_knows(r, a->slot, a->epoch)) return;
    mock_racer *writer = mock_racer_at(a->slot);
    mock_mark *m = writer == NULL ? NULL : mock_mark_now(writer);
    mock_racer_learn(r, m);
    mock_mark_unref(m);
}

/* A signal is made to be met by others. */
static void check(looking *l, const mock_access *old, const mock_range *n, uint64_t from, uint64_t to) {
    if (old == NULL || mock_racer_knows(l->racer, old->slot, old->epoch)) return;
    if (old->kind == MOCK_SIGNALS) heed(l->racer, old);
    else if (l->access->kind != MOCK_SIGNALS)
        keep(&l->found, old, n->from > from ? n->from : from, n->to < to ? n->to : to);
}

static void check_all(looking *l, const mock_range *n, uint64_t from, uint64_t to) {
    check(l, n->write, n, from, to);
    for (uint32_t i = 0; n->reads != NULL && i < n->reads->count; i++) check(l, n->reads->at[i], n, from, to);
}

static void check_tree(looking *l, const mock_range *n, uint64_t from, uint64_t to) {
    if (n == NULL) return;
    check_tree(l, n->left, from, to);
    check_all(l, n, from, to);
    check_tree(l, n->right, from, to);
}

static bool same_epoch(const looking *l, const mock_access *a) {
    return a != NULL && a->slot == l->access->slot && a->epoch == l->access->epoch && a->kind == l->access->kind;
}

static mock_access *hold(mock_access *a) {
    a->refs++;
    return a;
}

/* ---- writes ---- */

static bool write_inside(looking *l, mock_range *n, uint64_t from, uint64_t to) {
    const bool exact = n->from == from && n->to == to;
    if (!exact) return n->reads == NULL && same_epoch(l, n->write);
    check_all(l, n, from, to);
    mock_access_unref(n->write);
    mock_readers_unref(n->reads);
    n->write = hold(l->access);
    n->reads = NULL;
    return true;
}

static void write_range(looking *l, uint64_t from, uint64_t to) {
    mock_range *n = mock_range_at(from), *before = NULL, *after = NULL;
    if (n != NULL && to <= n->to && write_inside(l, n, from, to)) return;
    mock_range *middle = mock_ranges_cut(from, to, &before, &after);
    check_tree(l, middle, from, to);
    mock_range_free(middle);
    middle = mock_range_new(from, to, hold(l->access), NULL);
    mock_range_tree = mock_ranges_join(mock_ranges_join(before, middle), after);
}

/* ---- reads ---- */

/* The readers that this one does not know of, and itself; NULL without memory. */
static mock_readers *add_reader(looking *l, const mock_readers *old) {
    uint32_t count = 0;
    mock_readers *r = malloc(sizeof *r + ((old == NULL ? 0 : old->count) + 1) * sizeof(mock_access *));
    if (r == NULL) return NULL;
    for (uint32_t i = 0; old != NULL && i < old->count; i++)
        if (!mock_racer_knows(l->racer, old->at[i]->slot, old->at[i]->epoch)) r->at[count++] = hold(old->at[i]);
    r->at[count++] = hold(l->access);
    r->refs = 1;
    r->count = count;
    return r;
}

static mock_readers *with_reader(looking *l, mock_readers *old) {
    if (l->made == NULL || l->seen != old) {
        mock_readers_unref(l->made);
        mock_readers_unref(l->seen);
        l->seen = old;
        if (old != NULL) old->refs++;
        l->made = add_reader(l, old);
    }
    if (l->made != NULL) l->made->refs++;
    return l->made;
}

static void read_one(looking *l, mock_range *n, uint64_t from, uint64_t to) {
    check(l, n->write, n, from, to);
    mock_readers *old = n->reads;
    n->reads = with_reader(l, old);
    mock_readers_unref(old);
}

static bool read_inside(looking *l, mock_range *n, uint64_t from, uint64_t to) {
    for (uint32_t i = 0; n->reads != NULL && i < n->reads->count; i++) {
        if (!same_epoch(l, n->reads->at[i])) continue;
        check(l, n->write, n, from, to);
        return true;
    }
    if (n->from != from || n->to != to) return false;
    read_one(l, n, from, to);
    return true;
}

static mock_range *gap(looking *l, mock_range *tree, uint64_t from, uint64_t to) {
    if (from >= to) return tree;
    return mock_ranges_append(tree, mock_range_new(from, to, NULL, with_reader(l, NULL)));
}

static mock_range *read_tree(looking *l, mock_range *n, mock_range *into, uint64_t *at, uint64_t from, uint64_t to) {
    if (n == NULL) return into;
    mock_range *left = n->left, *right = n->right;
    n->left = n->right = NULL;
    into = read_tree(l, left, into, at, from, to);
    into = gap(l, into, *at, n->from);
    *at = n->to;
    read_one(l, n, from, to);
    into = mock_ranges_append(into, n);
    return read_tree(l, right, into, at, from, to);
}

static void read_range(looking *l, uint64_t from, uint64_t to) {
    mock_range *n = mock_range_at(from), *before = NULL, *after = NULL;
    if (n != NULL && to <= n->to && read_inside(l, n, from, to)) return;
    uint64_t at = from;
    mock_range *middle = mock_ranges_cut(from, to, &before, &after);
    middle = read_tree(l, middle, NULL, &at, from, to);
    middle = gap(l, middle, at, to);
    mock_range_tree = mock_ranges_join(mock_ranges_join(before, middle), after);
}

/* ---- forgetting ---- */

void mock_race_forget_all(void) {
    mock_races_lock();
    mock_range_free(mock_range_tree);
    mock_range_tree = NULL;
    sweep_at = FEW_RANGES;
    mock_races_unlock();
}

void mock_race_forget(const void *p, uint64_t bytes) {
    if (!mock_races() || bytes == 0) return;
    mock_range *before = NULL, *after = NULL;
    mock_races_lock();
    mock_range_free(mock_ranges_cut((uintptr_t)p, (uintptr_t)p + bytes, &before, &after));
    mock_range_tree = mock_ranges_join(before, after);
    mock_races_unlock();
}

typedef struct level {
    uint64_t *floor;
    uint32_t count;
} level;

static bool below(const level *l, const mock_access *a) { return a->slot < l->count && a->epoch <= l->floor[a->slot]; }

/* What nobody can race with any more. */
static mock_range *swept(const level *l, mock_range *n, mock_range *into) {
    if (n == NULL) return into;
    mock_range *left = n->left, *right = n->right;
    n->left = n->right = NULL;
    into = swept(l, left, into);
    bool old = true;
    for (uint32_t i = 0; n->reads != NULL && i < n->reads->count; i++) old = old && below(l, n->reads->at[i]);
    if (old) {
        mock_readers_unref(n->reads);
        n->reads = NULL;
    }
    if (n->write != NULL && below(l, n->write)) {
        mock_access_unref(n->write);
        n->write = NULL;
    }
    if (n->write == NULL && n->reads == NULL) mock_range_free(n);
    else into = mock_ranges_append(into, n);
    return swept(l, right, into);
}

static void sweep(void) {
    level l;
    l.floor = mock_racers_floor(&l.count);
    if (l.floor != NULL) mock_range_tree = swept(&l, mock_range_tree, NULL);
    free(l.floor);
    if (mock_range_count > MOST_RANGES) {
        mock_range_free(mock_range_tree);
        mock_range_tree = NULL;
    }
    sweep_at = mock_range_count * 2 > FEW_RANGES ? mock_range_count * 2 : FEW_RANGES;
}

/* ---- an access ---- */

static void each_piece(looking *l, const mock_pieces *w) {
    uint64_t index[MOCK_PIECE_DIMS] = {0}, at = w->from;
    for (uint32_t n = 0; n < MOST_PIECES; n++) {
        if (l->access->kind == MOCK_READS) read_range(l, at, at + w->bytes);
        else write_range(l, at, at + w->bytes);
        unsigned d = 0;
        for (; d < w->rank && ++index[d] == w->dims[d].count; d++) {
            at -= (w->dims[d].count - 1) * w->dims[d].stride;
            index[d] = 0;
        }
        if (d == w->rank) return;
        at += w->dims[d].stride;
    }
}

bool mock_race_touch(mock_racer *r, const mock_doing *who, mock_touch kind, const mock_pieces *what) {
    if (r == NULL || what->bytes == 0) return true;
    looking l = {.racer = r, .access = malloc(sizeof *l.access)};
    if (l.access == NULL) return true;
    mock_races_lock();
    if (!mock_racer_counts(r)) {
        mock_races_unlock();
        free(l.access);
        return true;
    }
    mock_racer_advance(r);
    *l.access = (mock_access){.refs = 1, .slot = r->slot, .epoch = r->epoch, .kind = kind, .who = *who};
    each_piece(&l, what);
    mock_readers_unref(l.seen);
    mock_readers_unref(l.made);
    mock_access_unref(l.access);
    if (MOCK_UNLIKELY(mock_range_count > sweep_at)) sweep();
    mock_races_unlock();
    if (l.found.count == 0) return true;
    /* Whoever lost an order turned the checks off before anything could miss it. */
    const int mode = atomic_load_explicit(&mock_races_mode, memory_order_acquire);
    for (unsigned i = 0; mode != MOCK_ACL_RACES_OFF && i < l.found.count; i++)
        mock_race_report(&l.found.at[i], who, kind);
    return mode != MOCK_ACL_RACES_FAIL;
}

/* Who wrote a word of host memory, or with a kernel, is not known: the host counts as one that did. */
void mock_race_heed(mock_racer *r, const void *word) {
    if (r == NULL) return;
    mock_racer_follow(r, mock_host_racer);
    mock_races_lock();
    const mock_range *n = mock_range_at((uintptr_t)word);
    if (n != NULL && n->write != NULL) heed(r, n->write);
    mock_races_unlock();
}
