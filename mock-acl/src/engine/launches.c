/* A log of the kernels that ran, for tests: which core limits each launch had, in which graph it stands. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/launches.h"
#include "engine/task.h"

#define MOST (UINT64_C(1) << 20)

typedef struct entry {
    const char *function;
    uint32_t cube, vector, graph;
    int32_t stream;
} entry;

atomic_bool mock_launches_on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *entries;
static uint64_t count, room;

void mock_launches_add(const mock_task *t, int32_t stream, uint32_t graph) {
    pthread_mutex_lock(&lock);
    if (count == room && room < MOST) {
        const uint64_t wanted = room == 0 ? 256 : room * 2;
        entry *grown = realloc(entries, wanted * sizeof *entries);
        if (grown != NULL) {
            entries = grown;
            room = wanted;
        }
    }
    if (count < room && atomic_load(&mock_launches_on))
        entries[count++] = (entry){t->ops->name, t->u.kernel.cube, t->u.kernel.vector, graph, stream};
    pthread_mutex_unlock(&lock);
}

MOCK_EXPORT void mock_acl_log_launches(int on) {
    pthread_mutex_lock(&lock);
    free(entries);
    entries = NULL;
    count = room = 0;
    atomic_store(&mock_launches_on, on != 0);
    pthread_mutex_unlock(&lock);
}

MOCK_EXPORT uint64_t mock_acl_launch_count(void) {
    pthread_mutex_lock(&lock);
    const uint64_t n = count;
    pthread_mutex_unlock(&lock);
    return n;
}

MOCK_EXPORT int mock_acl_launch_at(uint64_t index, mock_acl_launch *launch) {
    mock_acl_launch l = {0};
    pthread_mutex_lock(&lock);
    const bool known = index < count;
    if (known) {
        const entry *e = &entries[index];
        l = (mock_acl_launch){.function = e->function,
            .cube_cores = e->cube,
            .vector_cores = e->vector,
            .graph_id = e->graph,
            .stream_id = e->stream};
    }
    pthread_mutex_unlock(&lock);
    return known ? mock_copy_out(launch, &l, sizeof l) : MOCK_ACL_BAD_ARGUMENT;
}
