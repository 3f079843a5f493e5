/* The table of the spaces, sorted by address.
 *
 * Views that running work may use stay mapped until nothing executes. The addresses of a space that is gone
 * stay reserved for a while, so that work which still names them fails and does not touch memory of the
 * program (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mock_space **spaces;
static size_t count, room;
static _Atomic size_t seen; /* read without the lock: no space, no search */

/* The latest first. */
#define MOST_RETIRED 256u
typedef struct retired {
    char *base;
    void *view; /* NULL once unmapped */
    uint64_t bytes;
    struct retired *next;
} retired;
static retired *graveyard;
static size_t graves;
static _Atomic uint32_t users;

void mock_views_take(void) { atomic_fetch_add(&users, 1); }
void mock_views_give(void) { atomic_fetch_sub(&users, 1); }

void mock_space_lock(void) { pthread_mutex_lock(&lock); }
void mock_space_unlock(void) { pthread_mutex_unlock(&lock); }
size_t mock_space_count(void) { return count; }
mock_space *mock_space_index(size_t i) { return spaces[i]; }

/* The first space above the address. */
static size_t above(const void *p) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((uintptr_t)spaces[middle]->base > (uintptr_t)p) high = middle;
        else low = middle + 1;
    }
    return low;
}

mock_space *mock_space_at(const void *p) {
    const size_t i = above(p);
    mock_space *s = i == 0 ? NULL : spaces[i - 1];
    return s != NULL && (uint64_t)((uintptr_t)p - (uintptr_t)s->base) < s->bytes ? s : NULL;
}

static void publish(void) { atomic_store_explicit(&seen, count + graves, memory_order_release); }

bool mock_space_add(mock_space *s) {
    if (count == room) {
        mock_space **grown = realloc(spaces, (room * 2 + 16) * sizeof(mock_space *));
        if (grown == NULL) return false;
        spaces = grown;
        room = room * 2 + 16;
    }
    const size_t i = above(s->base);
    memmove(&spaces[i + 1], &spaces[i], (count - i) * sizeof(mock_space *));
    spaces[i] = s;
    count++;
    publish();
    return true;
}

static void close_view(retired *r) {
    if (r->view == r->base)
        mmap(r->base, r->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else if (r->view != NULL) munmap(r->view, r->bytes);
    r->view = NULL;
}

/* Unmaps what overlaps a range. */
static void dig_out(const char *base, uint64_t bytes) {
    for (retired **at = &graveyard; *at != NULL;) {
        retired *r = *at;
        const bool apart = r->view != NULL || (uintptr_t)r->base >= (uintptr_t)base + bytes ||
                           (uintptr_t)base >= (uintptr_t)r->base + r->bytes;
        if (apart) {
            at = &r->next;
            continue;
        }
        munmap(r->base, r->bytes);
        *at = r->next;
        free(r);
        graves--;
    }
    publish();
}

void mock_space_clear(const void *base, uint64_t bytes) {
    mock_space_lock();
    dig_out(base, bytes);
    mock_space_unlock();
}

void mock_space_bury(void) {
    mock_lock();
    mock_space_lock();
    /* Whoever comes later does not find these spaces any more. */
    const bool idle = mock_engine.executing == 0 && atomic_load(&users) == 0;
    retired *last = NULL;
    for (retired *r = graveyard; idle && r != NULL; r = r->next) {
        close_view(r);
        last = r;
    }
    if (last != NULL && graves > MOST_RETIRED) dig_out(last->base, last->bytes);
    mock_space_unlock();
    mock_unlock();
}

static void take_out(const mock_space *s) {
    mock_race_forget(s->base, s->bytes);
    const size_t i = above(s->base) - 1;
    memmove(&spaces[i], &spaces[i + 1], (count - i - 1) * sizeof(mock_space *));
    count--;
}

void mock_space_forget(mock_space *s) {
    take_out(s);
    publish();
    free(s->pieces);
    free(s);
}

/* Without memory for the note the addresses stay mapped. */
void mock_space_drop(mock_space *s) {
    take_out(s);
    retired *r = malloc(sizeof *r);
    if (r != NULL) {
        *r = (retired){s->base, s->view, s->bytes, graveyard};
        graveyard = r;
        graves++;
    }
    publish();
    free(s->pieces);
    free(s);
}

static bool reserve(mock_space *s, void *wanted, uint64_t bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *base = mmap(wanted, bytes, PROT_NONE, flags, -1, 0); /* somewhere else when that is taken */
    if (base == MAP_FAILED) return false;
    void *view = wanted == NULL || base == wanted ? mmap(NULL, bytes, PROT_NONE, flags, -1, 0) : MAP_FAILED;
    if (view == MAP_FAILED) {
        munmap(base, bytes);
        return false;
    }
    madvise(view, bytes, MADV_DONTDUMP);
    s->base = base;
    s->view = view;
    s->bytes = bytes;
    return true;
}

/* With what is left of older spaces in the way, once more without. */
bool mock_space_reserve(mock_space *s, void *wanted, uint64_t bytes) {
    if (reserve(s, wanted, bytes)) return true;
    dig_out(NULL, UINT64_MAX);
    return reserve(s, wanted, bytes);
}

/* The piece around an offset, by halving. */
static const mock_piece *piece_at(const mock_space *s, uint64_t at) {
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->pieces[middle].at > at) high = middle;
        else low = middle + 1;
    }
    const mock_piece *p = low == 0 ? NULL : &s->pieces[low - 1];
    return p != NULL && at - p->at < p->size ? p : NULL;
}

static uint32_t reach_of(const mock_piece *p) {
    uint32_t reach = 0;
    for (uint32_t i = 0; i < MOCK_MAX_DEVICES; i++) reach |= (uint32_t)(p->access[i] != 0) << i;
    return reach;
}

/* Neighbours continue each other. */
static void find_piece(const mock_space *s, uint64_t at, uint64_t size, mock_found *f) {
    const mock_piece *p = piece_at(s, at);
    if (p == NULL) return;
    f->base = s->base + p->at;
    f->size = p->size;
    f->device = p->physical->device;
    f->reach = f->throughout = reach_of(p);
    const mock_piece *end = s->pieces + s->count;
    uint64_t left = size, have = p->size - (at - p->at);
    bool good = f->reach != 0 || p->access[MOCK_HOST_SIDE] != 0;
    for (; left > have && good; have = p->size) {
        left -= have;
        p++;
        good = p < end && p->at == (p - 1)->at + (p - 1)->size && reach_of(p) != 0;
        if (!good) break;
        f->throughout &= reach_of(p);
    }
    if (good) f->view = s->view + at;
}

bool mock_space_find(const void *p, uint64_t size, mock_found *f) {
    *f = (mock_found){.view = NULL};
    if (atomic_load_explicit(&seen, memory_order_acquire) == 0) return false;
    pthread_mutex_lock(&lock);
    const mock_space *s = mock_space_at(p);
    if (s != NULL) {
        const uint64_t at = (uint64_t)((uintptr_t)p - (uintptr_t)s->base);
        f->kind = s->kind;
        f->device = s->device;
        if (s->kind == MOCK_SPACE_VIRTUAL) {
            find_piece(s, at, size, f);
        } else if (at >= s->first && at - s->first < s->size) {
            f->base = s->base + s->first;
            f->size = s->size;
            f->reach = f->throughout = s->open ? UINT32_MAX : UINT32_C(1) << s->device;
            if (size <= s->size - (at - s->first)) f->view = s->view + at;
        }
    }
    bool inside = s != NULL;
    for (const retired *r = graveyard; !inside && r != NULL; r = r->next)
        inside = (uint64_t)((uintptr_t)p - (uintptr_t)r->base) < r->bytes;
    pthread_mutex_unlock(&lock);
    return inside;
}
