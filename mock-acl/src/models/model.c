/* Loading and unloading of offline models: weights go to the device, work memory is set aside. An id that
 * is not loaded gives 145003 (implementation of the open graph engine). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "models/file.h"
#include "models/model.h"
#include "models/models.h"

typedef struct loaded {
    mock_thing thing;
    mock_model *model;
} loaded;

static void drop(void *thing) { mock_model_unref(((loaded *)thing)->model); }

static const mock_thing_type model_type = {"model", drop};
static mock_ids ids = MOCK_IDS(1);

/* May run with the engine's lock: memory has a lock of its own. */
void mock_model_unref(mock_model *m) {
    if (m == NULL || atomic_fetch_sub(&m->refs, 1) != 1) return;
    if (m->own_work && m->work != NULL) mock_device_free(m->work);
    if (m->own_weights && m->weights != NULL) mock_device_free(m->weights);
    mock_model_file_unref(m->file);
    free(m->addresses);
    free(m);
}

static aclError no_memory(const char *what) {
    return mock_fail((aclError)ACL_ERROR_GE_MEMORY_ALLOCATION, "EE4001", "no memory for %s of a model", what);
}

static uint64_t aligned(uint64_t n) {
    return (n + MOCK_MODEL_ALIGN - 1) / MOCK_MODEL_ALIGN * MOCK_MODEL_ALIGN;
}

/* What the container has; external files that a program does not place itself come on top. */
uint64_t mock_model_weight_bytes(const mock_model_file *f) {
    uint64_t bytes = aligned(f->weight_bytes);
    for (uint32_t i = 0; i < f->tensor_count; i++)
        if (f->tensors[i].place == MOCK_PLACE_EXTERNAL) bytes += aligned(f->tensors[i].size);
    return bytes;
}

/* A program's own memory: live device memory of at least the size (own choice: 145007, 145000). */
static aclError take(void *given, size_t size, uint64_t need, int32_t device, const char *what, char **out,
    bool *own) {
    *own = given == NULL;
    if (*own) {
        *out = mock_device_alloc(device, need == 0 ? MOCK_MODEL_ALIGN : need);
        return *out == NULL ? no_memory(what) : 0;
    }
    *out = given;
    if (size < need)
        return mock_fail((aclError)ACL_ERROR_GE_PARAM_INVALID, "EE4001",
            "%zu bytes for %s of a model, %llu needed",
            size, what, (unsigned long long)need);
    if (mock_device_view(given, need == 0 ? 1 : need) != NULL) return 0;
    return mock_fail((aclError)ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID, "EE4001",
        "%p is no device memory of %llu bytes for %s", given, (unsigned long long)need, what);
}

/* ---- weights ---- */

static const mock_model_external *placed(const mock_model_source *from, const char *file) {
    for (size_t i = 0; i < from->external_count; i++)
        if (strcmp(from->externals[i].file, file) == 0) return &from->externals[i];
    return NULL;
}

static aclError read_external(const mock_model_source *from, const mock_model_tensor *t, char *device) {
    char path[4096];
    const char *slash = from->path == NULL ? NULL : strrchr(from->path, '/');
    int n = 0;
    if (from->folder != NULL) n = snprintf(path, sizeof path, "%s/%s", from->folder, t->file);
    else if (slash != NULL)
        n = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - from->path), from->path, t->file);
    else n = snprintf(path, sizeof path, "%s", t->file);
    if (n < 0 || (size_t)n >= sizeof path) return mock_invalid("the path of %s is too long", t->file);
    unsigned char *bytes = NULL;
    size_t size = 0;
    const aclError code = mock_model_read(path, &bytes, &size);
    if (code != 0) return code;
    void *view = mock_device_view(device, t->size);
    const bool fits = t->offset <= size && t->size <= size - t->offset && view != NULL;
    if (fits) memcpy(view, bytes + t->offset, t->size);
    free(bytes);
    if (fits) return 0;
    return mock_fail((aclError)ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED, "EE4001",
        "%s: too short for %s", path,
        t->name);
}

static aclError fill_weights(mock_model *m, const mock_model_source *from) {
    const mock_model_file *f = m->file;
    uint64_t at = aligned(f->weight_bytes);
    if (f->weight_bytes != 0) memcpy(mock_device_view(m->weights, f->weight_bytes), f->weights,
        f->weight_bytes);
    for (uint32_t i = 0; i < f->tensor_count; i++) {
        const mock_model_tensor *t = &f->tensors[i];
        if (t->place == MOCK_PLACE_WEIGHT) m->addresses[i] = m->weights + t->offset;
        if (t->place != MOCK_PLACE_EXTERNAL) continue;
        const mock_model_external *e = placed(from, t->file);
        if (e != NULL) {
            if (e->size < t->offset || e->size - t->offset < t->size)
                return mock_fail((aclError)ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED, "EE4001",
                    "%zu bytes for %s are too few", e->size, t->file);
            m->addresses[i] = (char *)e->address + t->offset;
            continue;
        }
        m->addresses[i] = m->weights + at;
        const aclError code = read_external(from, t, m->weights + at);
        if (code != 0) return code;
        at += aligned(t->size);
    }
    return 0;
}

/* ---- load, find, unload ---- */

static aclError fill(mock_model *m, const mock_model_source *from) {
    bool bounded = false;
    m->addresses = calloc((size_t)m->file->tensor_count + 1, sizeof *m->addresses);
    if (m->addresses == NULL) return no_memory("addresses");
    aclError code = mock_model_work_size(m->file, &m->work_bytes, &bounded);
    if (!bounded) m->work_bytes = 0;
    if (code == 0 && bounded)
        code = take(from->work, from->work_size, m->work_bytes, m->device, "work", &m->work, &m->own_work);
    if (code == 0)
        code = take(from->weights, from->weight_size, mock_model_weight_bytes(m->file), m->device, "weights",
            &m->weights, &m->own_weights);
    return code == 0 ? fill_weights(m, from) : code;
}

static aclError publish(mock_model *m, uint32_t *id) {
    loaded *l = mock_thing_new(&model_type, sizeof *l);
    if (l == NULL) return ACL_ERROR_BAD_ALLOC;
    atomic_fetch_add(&m->refs, 1);
    l->model = m;
    if (mock_ids_add(&ids, l->thing.handle, id)) return 0;
    mock_thing_destroy(&model_type, l->thing.handle, "model");
    return ACL_ERROR_BAD_ALLOC;
}

/* Takes the file over, also on failure. Needs a context (own choice: 107002 as for memory). */
aclError mock_model_load(mock_model_file *file, const mock_model_source *from, uint32_t *id) {
    mock_lock();
    const mock_ctx *ctx = mock_current();
    const int32_t device = ctx == NULL ? 0 : ctx->device;
    mock_unlock();
    mock_model *m = ctx == NULL ? NULL : calloc(1, sizeof *m);
    if (m == NULL) {
        mock_model_file_unref(file);
        return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : no_memory("the record");
    }
    atomic_store(&m->refs, 1);
    m->file = file;
    m->device = device;
    aclError code = fill(m, from);
    if (code == 0) code = publish(m, id);
    mock_model_unref(m);
    return code;
}

static aclError unknown(uint32_t id) {
    return mock_fail((aclError)ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "EE4001", "model %u is not loaded", id);
}

aclError mock_model_find(uint32_t id, mock_model **out) {
    loaded *l = mock_thing_get(&model_type, mock_ids_get(&ids, id));
    if (l == NULL) return unknown(id);
    atomic_fetch_add(&l->model->refs, 1);
    *out = l->model;
    return 0;
}

/* What still runs keeps the model until it is done (own choice: the guide asks to wait first). */
aclError mock_model_unload(uint32_t id) {
    const void *handle = mock_ids_take(&ids, id);
    if (handle == NULL) return unknown(id);
    return mock_thing_destroy(&model_type, handle, "modelId");
}

void mock_models_reset(void) { mock_ids_reset(&ids); }
