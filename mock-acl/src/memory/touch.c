/* Accesses to memory, on their way to the room of races. */
#include "base/base.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

static bool block(const void *p, void **base, uint64_t *size) {
    mock_found f;
    if (mock_block_of(p, base, size)) return true;
    if (!mock_space_find(p, 0, &f) || f.size == 0) return false;
    *base = f.base;
    *size = f.size;
    return true;
}

const mock_race_rest mock_race_parts = {block};

/* Only calls of the host touch pageable memory, and they are ordered. */
static bool looked_at(const void *p) { return mock_place_of(p) != MOCK_PAGEABLE; }

bool mock_touch_task_pieces(const mock_pieces *what, mock_touch kind) {
    if (!looked_at((const void *)(uintptr_t)what->from)) return true;
    return mock_racing_task(kind, what);
}

static void host(const char *call, const mock_pieces *what, mock_touch kind) {
    if (looked_at((const void *)(uintptr_t)what->from)) mock_racing_host(call, kind, what);
}

void mock_touch_host(const char *call, const void *p, uint64_t bytes, mock_touch kind) {
    if (mock_races()) host(call, &(mock_pieces){.from = (uintptr_t)p, .bytes = bytes}, kind);
}

static mock_pieces rows(const void *first, uint64_t pitch, const mock_copy *c) {
    mock_pieces p = {.from = (uintptr_t)first, .bytes = c->width};
    if (pitch == c->width) p.bytes = c->width * c->height;
    else if (c->height > 1) p.rank = 1;
    p.dims[0].count = c->height;
    p.dims[0].stride = pitch;
    return p;
}

bool mock_touch_task_copy(const mock_copy *c) {
    const mock_pieces from = rows(c->src, c->src_pitch, c), to = rows(c->dst, c->dst_pitch, c);
    const bool good = mock_touch_task_pieces(&from, MOCK_READS);
    return mock_touch_task_pieces(&to, MOCK_WRITES) && good;
}

void mock_touch_host_copy(const char *call, const mock_copy *c) {
    if (!mock_races()) return;
    const mock_pieces from = rows(c->src, c->src_pitch, c), to = rows(c->dst, c->dst_pitch, c);
    host(call, &from, MOCK_READS);
    host(call, &to, MOCK_WRITES);
}

void mock_touch_free(const char *call, const void *p) {
    void *base = NULL;
    uint64_t size = 0;
    if (mock_races() && block(p, &base, &size) && base == p) mock_touch_host(call, p, size, MOCK_FREES);
}
