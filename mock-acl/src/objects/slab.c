#include "objects/object.h"
#include "objects/objects.h"
#include "objects/slab.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>


#define CHUNK_OBJECTS 64u
#define CACHE_LIMIT 128u

typedef struct chunk {
    struct chunk *next;
    _Alignas(64) unsigned char objects[];
} chunk;

typedef struct slab {
    pthread_mutex_t lock;
    mock_slot *free;
    chunk *chunks; /* for as long as the process lives */
} slab;

typedef struct cache {
    mock_slot *free;
    unsigned count;
} cache;

static slab slabs[MOCK_SLABS] = {
    {PTHREAD_MUTEX_INITIALIZER, NULL, NULL}, {PTHREAD_MUTEX_INITIALIZER, NULL, NULL},
    {PTHREAD_MUTEX_INITIALIZER, NULL, NULL}, {PTHREAD_MUTEX_INITIALIZER, NULL, NULL},
    {PTHREAD_MUTEX_INITIALIZER, NULL, NULL},
};
static _Thread_local cache caches[MOCK_SLABS];
static _Thread_local bool registered;
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

#define ROUND64(n) (((n) + 63u) & ~(size_t)63u)
static const size_t sizes[MOCK_SLABS] = {
    ROUND64(sizeof(mock_tensor)), ROUND64(sizeof(mock_scalar)), ROUND64(sizeof(mock_array)),
    ROUND64(sizeof(mock_list)), ROUND64(sizeof(mock_plan)),
};

/* Moves `count` objects of the thread's cache to the shared list. */
static void spill(mock_slab_id id, unsigned count) {
    cache *mine = &caches[id];
    mock_slot *first = mine->free;
    mock_slot *last = first;
    if (count == 0) return;
    for (unsigned i = 1; i < count; i++) last = last->next;
    mine->free = last->next;
    mine->count -= count;
    pthread_mutex_lock(&slabs[id].lock);
    last->next = slabs[id].free;
    slabs[id].free = first;
    pthread_mutex_unlock(&slabs[id].lock);
}

static void thread_exit(void *unused) {
    (void)unused;
    registered = false;
    for (int id = 0; id < MOCK_SLABS; id++) spill((mock_slab_id)id, caches[id].count);
}

static void make_key(void) {
    pthread_key_create(&exit_key, thread_exit);
}

static void register_thread(void) {
    pthread_once(&exit_once, make_key);
    pthread_setspecific(exit_key, caches);
    registered = true;
}

static bool grow(slab *s, size_t size) {
    chunk *fresh = aligned_alloc(64, ROUND64(sizeof(chunk)) + CHUNK_OBJECTS * size);
    if (fresh == NULL) return false;
    for (unsigned i = CHUNK_OBJECTS; i-- > 0;) {
        mock_slot *slot = (mock_slot *)(void *)(fresh->objects + i * size);
        slot->next = s->free;
        s->free = slot;
    }
    fresh->next = s->chunks;
    s->chunks = fresh;
    return true;
}

static bool refill(mock_slab_id id) {
    slab *s = &slabs[id];
    cache *mine = &caches[id];
    if (!registered) register_thread();
    pthread_mutex_lock(&s->lock);
    if (s->free == NULL && !grow(s, sizes[id])) {
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    while (s->free != NULL && mine->count < CHUNK_OBJECTS) {
        mock_slot *slot = s->free;
        s->free = slot->next;
        slot->next = mine->free;
        mine->free = slot;
        mine->count++;
    }
    pthread_mutex_unlock(&s->lock);
    return true;
}

void *mock_slab_take(mock_slab_id id) {
    cache *mine = &caches[id];
    if (mine->free == NULL && !refill(id)) return NULL;
    mock_slot *slot = mine->free;
    mine->free = slot->next;
    mine->count--;
    return slot;
}

void mock_slab_give(mock_slab_id id, void *object) {
    cache *mine = &caches[id];
    mock_slot *slot = object;
    if (!registered) register_thread();
    slot->next = mine->free;
    mine->free = slot;
    if (++mine->count >= CACHE_LIMIT) spill(id, CACHE_LIMIT / 2);
}
