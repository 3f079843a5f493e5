/* An address range with an allocator. The range is split into spans of 2 MiB; a small block lives in a
 * span of its size class, a large one takes whole spans. Allocation, release and the lookup of an inner
 * address are O(1).
 *
 * Device ranges are one memory file mapped twice: the device view without access, whose addresses
 * programs get, and a view the mock works on. A host dereference of a device address faults at the
 * instruction (own choice: such a mistake should never pass). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "memory/arena.h"

#define SPAN_BITS 21
#define SPAN_BYTES (UINT64_C(1) << SPAN_BITS)
#define ALIGN 512u /* own choice; 64 bytes are promised (guide: memory management, aclrtMalloc) */
#define SMALL_LIMIT (SPAN_BYTES / 2)
#define BINS 20
#define NONE UINT32_MAX
#define OPENED_SPANS 32u /* at once */
#define DIRTY_LIMIT 128u /* freed spans whose pages are kept; more are given back in one batch */
/* Fresh small blocks are filled with it: as a float of any width it is not a number. Large ones are not
 * filled (own choice: reading undefined content should show, and cheaply). */
#define FRESH_BYTE 0xFF
#define FRESH_LIMIT (UINT64_C(64) << 10)
#define CLASSES 22
#define LEAST_BYTES (16 * SPAN_BYTES)

typedef enum span_use { SPAN_FREE, SPAN_SMALL, SPAN_LARGE, SPAN_INSIDE } span_use;

typedef struct span {
    uint8_t use;
    uint8_t bin;         /* size class of a small span */
    bool dirty;          /* free, and its pages hold old data */
    uint32_t length;     /* spans of a run: at its first and, when free, also at its last span */
    uint32_t first;      /* first span of the run, for inner and last spans */
    uint32_t next, prev; /* list of free runs of one bin, or of small spans with room */
    uint32_t free_slot, fresh_slot, live;
    uint64_t size;   /* bytes asked for, of a large block */
    bool bare, idle; /* of a large block, as BARE and IDLE of a small one */
    uint32_t *slots; /* small: size of live slots; free ones have the top bit and the next free index */
} span;

struct mock_arena {
    pthread_mutex_t lock;
    char *base, *view;
    int file;
    bool device;
    uint32_t spans;
    uint64_t capacity, charged, bytes, blocks, peak;
    span *span;
    uint32_t runs[BINS], room[CLASSES];
    uint32_t dirty;
    uint32_t open; /* of the view: spans before it can be read and written */
};

/* 512, 1024, 1536, 2048, 3072, 4096, 6144, ... */
static uint32_t class_bytes(unsigned c) {
    return c < 2 ? ALIGN << c : (c & 1 ? ALIGN << (c / 2 + 1) : 3u * (ALIGN >> 1) << (c / 2));
}

static unsigned class_of(uint64_t size) {
    unsigned c = 0;
    while (class_bytes(c) < size) c++;
    return c;
}

static unsigned bin_of(uint32_t length) {
    const unsigned b = 31u - (unsigned)__builtin_clz(length);
    return b < BINS ? b : BINS - 1;
}

static void list_add(mock_arena *a, uint32_t *head, uint32_t i) {
    a->span[i].prev = NONE;
    a->span[i].next = *head;
    if (*head != NONE) a->span[*head].prev = i;
    *head = i;
}

static void list_cut(mock_arena *a, uint32_t *head, uint32_t i) {
    const span *s = &a->span[i];
    if (s->prev != NONE) a->span[s->prev].next = s->next;
    else *head = s->next;
    if (s->next != NONE) a->span[s->next].prev = s->prev;
}

static void run_add(mock_arena *a, uint32_t i, uint32_t length) {
    a->span[i].use = SPAN_FREE;
    a->span[i].length = length;
    a->span[i + length - 1].use = SPAN_FREE;
    a->span[i + length - 1].length = length;
    a->span[i + length - 1].first = i;
    list_add(a, &a->runs[bin_of(length)], i);
}

static void reset_runs(mock_arena *a) {
    for (unsigned i = 0; i < BINS; i++) a->runs[i] = NONE;
    for (unsigned i = 0; i < CLASSES; i++) a->room[i] = NONE;
    run_add(a, 0, a->spans);
}

/* The two views of a device range; halved until the address space has room. */
static bool map_device(mock_arena *a, uint64_t bytes) {
    a->file = memfd_create("mock-acl-device", MFD_CLOEXEC);
    if (a->file < 0 || ftruncate(a->file, (off_t)bytes) != 0) return false;
    void *base = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, a->file, 0);
    void *view = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, a->file, 0);
    if (base == MAP_FAILED || view == MAP_FAILED) {
        if (base != MAP_FAILED) munmap(base, bytes);
        if (view != MAP_FAILED) munmap(view, bytes);
        close(a->file);
        return false;
    }
    madvise(view, bytes, MADV_DONTDUMP);
    a->base = base;
    a->view = view;
    return true;
}

static bool map_host(mock_arena *a, uint64_t bytes) {
    void *base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    madvise(base, bytes, MADV_DONTDUMP);
    a->base = a->view = base;
    return true;
}

static void unmap(mock_arena *a, uint64_t bytes) {
    munmap(a->base, bytes);
    if (!a->device) return;
    munmap(a->view, bytes);
    close(a->file);
}

static bool map(mock_arena *a, uint64_t bytes) {
    return a->device ? map_device(a, bytes) : map_host(a, bytes);
}

/* A quarter of the addresses that a small address space has: the rest is for pinned memory, other devices and
 * the program (own choice). */
static bool shrink(mock_arena *a, uint64_t *reserved, uint64_t *bytes) {
    for (*reserved /= 2, *bytes /= 2; *reserved >= LEAST_BYTES; *reserved /= 2, *bytes /= 2) {
        if (!map(a, *reserved)) continue;
        if (*reserved / 4 < LEAST_BYTES) return true;
        unmap(a, *reserved);
        *reserved /= 4;
        *bytes /= 4;
        return map(a, *reserved);
    }
    return false;
}

mock_arena *mock_arena_new(uint64_t bytes, bool device) {
    mock_arena *a = calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->device = device;
    /* Classes and alignment waste addresses, never capacity: a device has half as many addresses again. */
    uint64_t reserved = bytes + bytes / 2;
    if (!map(a, reserved) && !shrink(a, &reserved, &bytes)) {
        free(a);
        return NULL;
    }
    a->capacity = bytes;
    a->spans = (uint32_t)(reserved >> SPAN_BITS);
    a->span = calloc(a->spans, sizeof *a->span);
    if (a->span == NULL) {
        unmap(a, reserved);
        free(a);
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    reset_runs(a);
    return a;
}

static void give_back(mock_arena *a, uint32_t i, uint32_t length) {
    const off_t at = (off_t)((uint64_t)i << SPAN_BITS), bytes = (off_t)((uint64_t)length << SPAN_BITS);
    if (a->device) fallocate(a->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, bytes);
    else madvise(a->base + at, (size_t)bytes, MADV_DONTNEED);
}

/* Punching holes is slow, so it is done in batches. */
static void give_back_dirty(mock_arena *a) {
    for (uint32_t i = 0, n; i < a->spans; i += n) {
        for (n = 0; i + n < a->spans && a->span[i + n].dirty; n++) a->span[i + n].dirty = false;
        if (n != 0) give_back(a, i, n);
        else n = 1;
    }
    a->dirty = 0;
}

/* Only what was used once can be read: what looks through all memory of a process, as checkers of leaks do,
 * would go through the card's otherwise, and have all of it. */
static bool open_spans(mock_arena *a, uint32_t end) {
    if (end <= a->open) return true;
    uint32_t more = (end + OPENED_SPANS - 1) / OPENED_SPANS * OPENED_SPANS;
    if (more > a->spans) more = a->spans;
    const uint64_t from = (uint64_t)a->open << SPAN_BITS, bytes = (uint64_t)(more - a->open) << SPAN_BITS;
    if (mprotect(a->view + from, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    a->open = more;
    return true;
}

static uint32_t take_run(mock_arena *a, uint32_t length) {
    for (unsigned b = bin_of(length); b < BINS; b++) {
        for (uint32_t i = a->runs[b]; i != NONE; i = a->span[i].next) {
            const uint32_t have = a->span[i].length;
            if (have < length || !open_spans(a, i + length)) continue;
            list_cut(a, &a->runs[b], i);
            if (have > length) run_add(a, i + length, have - length);
            for (uint32_t k = i; k < i + length; k++) {
                a->dirty -= a->span[k].dirty;
                a->span[k].dirty = false;
                a->span[k].use = SPAN_INSIDE;
                a->span[k].first = i;
            }
            a->span[i].length = length;
            return i;
        }
    }
    return NONE;
}

static void give_run(mock_arena *a, uint32_t i, uint32_t length) {
    for (uint32_t k = i; k < i + length; k++) {
        a->span[k].use = SPAN_FREE;
        a->span[k].dirty = true;
    }
    a->dirty += length;
    if (i + length < a->spans && a->span[i + length].use == SPAN_FREE) {
        list_cut(a, &a->runs[bin_of(a->span[i + length].length)], i + length);
        length += a->span[i + length].length;
    }
    if (i > 0 && a->span[i - 1].use == SPAN_FREE) {
        const uint32_t before = a->span[i - 1].length;
        i -= before;
        list_cut(a, &a->runs[bin_of(before)], i);
        length += before;
    }
    run_add(a, i, length);
    if (a->dirty > DIRTY_LIMIT) give_back_dirty(a);
}

/* ---- small blocks ---- */

#define SLOT_FREE 0x80000000u
/* Beside the size of a live slot. */
#define BARE 0x40000000u /* counts without the 32 bytes of padding */
#define IDLE 0x20000000u /* kept by a pool, not to be used */
#define SLOT_SIZE 0x1FFFFFFFu

static uint32_t small_span(mock_arena *a, unsigned c) {
    if (a->room[c] != NONE) return a->room[c];
    const uint32_t count = (uint32_t)(SPAN_BYTES / class_bytes(c));
    uint32_t *slots = malloc(count * sizeof *slots);
    const uint32_t i = slots == NULL ? NONE : take_run(a, 1);
    if (i == NONE) {
        free(slots);
        return NONE;
    }
    span *s = &a->span[i];
    s->use = SPAN_SMALL;
    s->bin = (uint8_t)c;
    s->slots = slots;
    s->free_slot = NONE;
    s->fresh_slot = s->live = 0;
    list_add(a, &a->room[c], i);
    return i;
}

static char *small_alloc(mock_arena *a, uint64_t size, bool bare) {
    const unsigned c = class_of(size);
    const uint32_t i = small_span(a, c);
    if (i == NONE) return NULL;
    span *s = &a->span[i];
    const uint32_t count = (uint32_t)(SPAN_BYTES / class_bytes(c));
    uint32_t k = s->free_slot;
    if (k != NONE)
        s->free_slot = (s->slots[k] & ~SLOT_FREE) == (NONE & ~SLOT_FREE) ? NONE : s->slots[k] & ~SLOT_FREE;
    else k = s->fresh_slot++;
    s->slots[k] = (uint32_t)size | (bare ? BARE : 0);
    s->live++;
    if (s->free_slot == NONE && s->fresh_slot == count) list_cut(a, &a->room[c], i);
    return a->base + ((uint64_t)i << SPAN_BITS) + (uint64_t)k * class_bytes(c);
}

static void small_free(mock_arena *a, uint32_t i, uint32_t k) {
    span *s = &a->span[i];
    const unsigned c = s->bin;
    const uint32_t count = (uint32_t)(SPAN_BYTES / class_bytes(c));
    const bool was_full = s->free_slot == NONE && s->fresh_slot == count;
    s->slots[k] = SLOT_FREE | s->free_slot;
    s->free_slot = k;
    s->live--;
    if (was_full) list_add(a, &a->room[c], i);
    /* The last span of a class stays, so that one block in a loop costs no span. */
    if (s->live != 0 || (a->room[c] == i && s->next == NONE)) return;
    list_cut(a, &a->room[c], i);
    free(s->slots);
    s->slots = NULL;
    give_run(a, i, 1);
}

/* ---- both ---- */

typedef struct found {
    uint32_t span, slot;
    uint64_t at, size; /* offset in the arena */
    bool bare, idle;
} found;

static bool find(mock_arena *a, const void *p, found *f) {
    const uint64_t offset = (uint64_t)((uintptr_t)p - (uintptr_t)a->base);
    if (offset >= (uint64_t)a->spans << SPAN_BITS) return false;
    uint32_t i = (uint32_t)(offset >> SPAN_BITS);
    if (a->span[i].use == SPAN_INSIDE) i = a->span[i].first;
    const span *s = &a->span[i];
    *f = (found){i, 0, (uint64_t)i << SPAN_BITS, s->size, s->bare, s->idle};
    if (s->use == SPAN_LARGE) return offset - f->at < s->size;
    if (s->use != SPAN_SMALL) return false;
    f->slot = (uint32_t)(offset & (SPAN_BYTES - 1)) / class_bytes(s->bin);
    if (f->slot >= s->fresh_slot || (s->slots[f->slot] & SLOT_FREE) != 0) return false;
    f->at += (uint64_t)f->slot * class_bytes(s->bin);
    f->size = s->slots[f->slot] & SLOT_SIZE;
    f->bare = (s->slots[f->slot] & BARE) != 0;
    f->idle = (s->slots[f->slot] & IDLE) != 0;
    return offset - f->at < f->size;
}

/* What a block takes from the capacity: rounded up to 32, and 32 more (guide: memory management,
 * aclrtMalloc); a bare one only the former (guide: memory management, aclrtMallocAlign32). */
static uint64_t charge(uint64_t size, bool bare) {
    return ((size + 31) & ~UINT64_C(31)) + (bare ? 0 : 32);
}

void *mock_arena_alloc(mock_arena *a, uint64_t size, bool bare) {
    char *p = NULL;
    pthread_mutex_lock(&a->lock);
    const uint64_t charged = charge(size, bare);
    if (charged <= a->capacity - a->charged) {
        if (size <= SMALL_LIMIT) {
            p = small_alloc(a, size, bare);
        } else {
            const uint32_t i = take_run(a, (uint32_t)((size + SPAN_BYTES - 1) >> SPAN_BITS));
            if (i != NONE) {
                a->span[i].use = SPAN_LARGE;
                a->span[i].size = size;
                a->span[i].bare = bare;
                a->span[i].idle = false;
                p = a->base + ((uint64_t)i << SPAN_BITS);
            }
        }
    }
    if (p != NULL) {
        a->charged += charged;
        a->bytes += size;
        a->blocks++;
        if (a->charged > a->peak) a->peak = a->charged;
    }
    pthread_mutex_unlock(&a->lock);
    if (p != NULL && size <= FRESH_LIMIT) memset(a->view + (p - a->base), FRESH_BYTE, size);
    return p;
}

/* Only the start of a block can be freed (guide: memory management, aclrtFree). */
bool mock_arena_free(mock_arena *a, void *p) {
    found f;
    pthread_mutex_lock(&a->lock);
    const bool good = find(a, p, &f) && f.at == (uint64_t)((char *)p - a->base);
    if (good) {
        a->charged -= charge(f.size, f.bare);
        a->bytes -= f.size;
        a->blocks--;
        if (a->span[f.span].use == SPAN_SMALL) small_free(a, f.span, f.slot);
        else give_run(a, f.span, a->span[f.span].length);
    }
    pthread_mutex_unlock(&a->lock);
    return good;
}

bool mock_arena_contains(const mock_arena *a, const void *p) {
    return (uint64_t)((uintptr_t)p - (uintptr_t)a->base) < (uint64_t)a->spans << SPAN_BITS;
}

bool mock_arena_block(mock_arena *a, const void *p, void **base, uint64_t *size) {
    found f;
    pthread_mutex_lock(&a->lock);
    const bool good = find(a, p, &f) && !f.idle;
    pthread_mutex_unlock(&a->lock);
    if (good && base != NULL) *base = a->base + f.at;
    if (good && size != NULL) *size = f.size;
    return good;
}

void *mock_arena_view(mock_arena *a, const void *p, uint64_t size) {
    void *base = NULL;
    uint64_t length = 0;
    if (!mock_arena_block(a, p, &base, &length)) return NULL;
    const uint64_t inside = (uint64_t)((const char *)p - (const char *)base);
    return size <= length - inside ? a->view + ((const char *)p - a->base) : NULL;
}

void mock_arena_idle(mock_arena *a, const void *p, bool idle) {
    found f;
    pthread_mutex_lock(&a->lock);
    if (find(a, p, &f)) {
        span *s = &a->span[f.span];
        if (s->use == SPAN_SMALL) s->slots[f.slot] = (s->slots[f.slot] & ~IDLE) | (idle ? IDLE : 0);
        else s->idle = idle;
    }
    pthread_mutex_unlock(&a->lock);
}

int mock_arena_file(const mock_arena *a, const void *p, uint64_t *offset) {
    *offset = (uint64_t)((uintptr_t)p - (uintptr_t)a->base);
    return a->file;
}

mock_arena_use mock_arena_usage(mock_arena *a) {
    pthread_mutex_lock(&a->lock);
    const mock_arena_use use = {a->blocks, a->bytes, a->charged, a->capacity, a->peak};
    pthread_mutex_unlock(&a->lock);
    return use;
}

void mock_arena_reset(mock_arena *a) {
    pthread_mutex_lock(&a->lock);
    for (uint32_t i = 0; i < a->spans; i++) free(a->span[i].slots);
    memset(a->span, 0, a->spans * sizeof *a->span);
    give_back(a, 0, a->spans);
    a->charged = a->bytes = a->blocks = a->peak = 0;
    a->dirty = 0;
    reset_runs(a);
    pthread_mutex_unlock(&a->lock);
}

/* What lies between the blocks goes back: the addresses too, of which a process has not that many. */
void mock_arena_retire(mock_arena *a) {
    pthread_mutex_lock(&a->lock);
    for (uint32_t i = 0, n; i < a->spans; i += n) {
        n = a->span[i].length == 0 ? 1 : a->span[i].length;
        if (a->span[i].use == SPAN_FREE) munmap(a->base + i * SPAN_BYTES, n * SPAN_BYTES);
        free(a->span[i].slots);
    }
    free(a->span);
    a->span = NULL;
    a->spans = 0;
    pthread_mutex_unlock(&a->lock);
}
