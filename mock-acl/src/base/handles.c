/* Handles: one table of slots for every kind of object. A handle value carries kind, slot and generation, is
 * not a canonical address on x86-64 or aarch64, and is checked without touching what it names.
 *
 * A destroyed handle, or one of another kind, is 107017 (observed: stream_basic, stream_basic2, execute,
 * notify). The real runtime reads a mark in the freed object and may miss it; here the answer is always the
 * same (own choice: tests must not depend on the allocator). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "base/handle.h"

#define CHUNK_BITS 12
#define CHUNK_SLOTS (1u << CHUNK_BITS)
#define SLOT_BITS 22
#define GENERATION_BITS 23
#define CHUNKS (1u << (SLOT_BITS - CHUNK_BITS))
#define GENERATION_MASK ((1u << GENERATION_BITS) - 1)
/* Bits 63 to 56 mark a handle; bits 55 to 53 keep the value faulting where the top byte is ignored. The kind
 * has the next five. */
#define TAG 0x52Aull
#define KIND_BITS 5
_Static_assert((int)MOCK_OBJECT_FIRST + (int)MOCK_OBJECT_KINDS <= 1 << KIND_BITS, "a kind has five bits");

typedef struct slot {
    _Atomic uint32_t tag; /* kind and generation while live, 0 when free */
    uint32_t generation;
    void *_Atomic object;
    uint32_t next_free;
} slot;

static slot *_Atomic chunks[CHUNKS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t used = 1, free_head; /* slot 0 is never handed out */
static uint64_t live[1 << KIND_BITS];

static uint32_t tag_of(mock_kind kind, uint32_t generation) {
    return ((uint32_t)kind << GENERATION_BITS) | generation;
}

static void *encode(mock_kind kind, uint32_t index, uint32_t generation) {
    const uint64_t value = (TAG << 53) | ((uint64_t)kind << 48) | ((uint64_t)index << (GENERATION_BITS + 3)) |
                           ((uint64_t)generation << 3);
    return (void *)(uintptr_t)value;
}

static slot *slot_at(uint32_t index) {
    slot *chunk = atomic_load_explicit(&chunks[index >> CHUNK_BITS], memory_order_acquire);
    return chunk == NULL ? NULL : &chunk[index & (CHUNK_SLOTS - 1)];
}

/* The slot of a well-formed live handle of this kind. */
static slot *find(mock_kind kind, const void *handle, uint32_t *tag) {
    const uint64_t value = (uint64_t)(uintptr_t)handle;
    if ((value >> 48) != ((TAG << KIND_BITS) | (uint64_t)kind) || (value & 7) != 0) return NULL;
    const uint32_t index = (uint32_t)(value >> (GENERATION_BITS + 3)) & ((1u << SLOT_BITS) - 1);
    slot *s = slot_at(index);
    if (s == NULL) return NULL;
    *tag = tag_of(kind, (uint32_t)(value >> 3) & GENERATION_MASK);
    return atomic_load_explicit(&s->tag, memory_order_acquire) == *tag ? s : NULL;
}

static uint32_t take_free(void) {
    if (free_head != 0) {
        const uint32_t index = free_head;
        free_head = slot_at(index)->next_free;
        return index;
    }
    if (used >> SLOT_BITS) return 0;
    if (slot_at(used) == NULL) {
        slot *chunk = calloc(CHUNK_SLOTS, sizeof *chunk);
        if (chunk == NULL) return 0;
        atomic_store_explicit(&chunks[used >> CHUNK_BITS], chunk, memory_order_release);
    }
    return used++;
}

void *mock_handle_new(mock_kind kind, void *object) {
    void *handle = NULL;
    pthread_mutex_lock(&table_lock);
    const uint32_t index = take_free();
    if (index != 0) {
        slot *s = slot_at(index);
        s->generation = (s->generation + 1) & GENERATION_MASK;
        atomic_store_explicit(&s->object, object, memory_order_relaxed);
        atomic_store_explicit(&s->tag, tag_of(kind, s->generation), memory_order_release);
        handle = encode(kind, index, s->generation);
        live[kind]++;
    }
    pthread_mutex_unlock(&table_lock);
    return handle;
}

void *mock_handle_get(mock_kind kind, const void *handle) {
    uint32_t tag = 0;
    slot *s = find(kind, handle, &tag);
    return s == NULL ? NULL : atomic_load_explicit(&s->object, memory_order_relaxed);
}

static void release(mock_kind kind, slot *s, uint32_t index) {
    atomic_store_explicit(&s->tag, 0, memory_order_release);
    s->next_free = free_head;
    free_head = index;
    live[kind]--;
}

void *mock_handle_take(mock_kind kind, const void *handle) {
    void *object = NULL;
    uint32_t tag = 0;
    pthread_mutex_lock(&table_lock);
    slot *s = find(kind, handle, &tag);
    if (s != NULL) {
        object = atomic_load_explicit(&s->object, memory_order_relaxed);
        const uint64_t value = (uint64_t)(uintptr_t)handle;
        release(kind, s, (uint32_t)(value >> (GENERATION_BITS + 3)) & ((1u << SLOT_BITS) - 1));
    }
    pthread_mutex_unlock(&table_lock);
    return object;
}

uint64_t mock_handle_count(mock_kind kind) {
    pthread_mutex_lock(&table_lock);
    const uint64_t n = live[kind];
    pthread_mutex_unlock(&table_lock);
    return n;
}

void mock_handle_each(mock_kind kind, void (*visit)(void *)) {
    pthread_mutex_lock(&table_lock);
    const uint32_t end = used;
    pthread_mutex_unlock(&table_lock);
    for (uint32_t i = 1; i < end; i++) {
        slot *s = slot_at(i);
        const uint32_t tag = atomic_load_explicit(&s->tag, memory_order_acquire);
        if (tag >> GENERATION_BITS == (uint32_t)kind)
            visit(atomic_load_explicit(&s->object, memory_order_relaxed));
    }
}

static mock_kind kind_of(mock_object_kind kind) { return (mock_kind)((int)MOCK_OBJECT_FIRST + (int)kind); }

void *mock_object_new(mock_object_kind kind, void *object) {
    void *handle = mock_handle_new(kind_of(kind), object);
    mock_gave(handle);
    return handle;
}
void *mock_object_get(mock_object_kind kind, const void *handle) {
    return mock_handle_get(kind_of(kind), handle);
}
void *mock_object_take(mock_object_kind kind, const void *handle) {
    return mock_handle_take(kind_of(kind), handle);
}

void mock_object_take_all(mock_object_kind object_kind, void (*visit)(void *object)) {
    const mock_kind kind = kind_of(object_kind);
    pthread_mutex_lock(&table_lock);
    const uint32_t end = used;
    pthread_mutex_unlock(&table_lock);
    for (uint32_t i = 1; i < end; i++) {
        const uint32_t tag = atomic_load_explicit(&slot_at(i)->tag, memory_order_relaxed);
        if (tag >> GENERATION_BITS != (uint32_t)kind) continue;
        void *object = mock_handle_take(kind, encode(kind, i, tag & GENERATION_MASK));
        if (object != NULL) visit(object);
    }
}
