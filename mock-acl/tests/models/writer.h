/* Writes containers of offline models in memory, docs/model-format.md. */
#ifndef MOCK_MODEL_WRITER_H_
#define MOCK_MODEL_WRITER_H_

#include "check.h"

enum { M_INPUT, M_OUTPUT, M_INNER, M_WEIGHT, M_EXTERNAL };

typedef struct model_writer {
    unsigned char bytes[16384];
    size_t size; /* of the header and all after it */
    uint32_t tensors, ops, gears, dynamic;
    unsigned char weights[4096];
    size_t weight_bytes;
} model_writer;

static inline void m_put(model_writer *w, const void *p, size_t n) {
    CHECK(w->size + n <= sizeof w->bytes);
    if (n != 0) memcpy(w->bytes + w->size, p, n);
    w->size += n;
}

static inline void m_number(model_writer *w, uint64_t value, size_t bytes) { m_put(w, &value, bytes); }

static inline void m_text(model_writer *w, const char *text) {
    m_number(w, strlen(text), 2);
    m_put(w, text, strlen(text) + 1);
}

static inline void m_begin(model_writer *w) {
    memset(w, 0, sizeof *w);
    w->size = 64;
}

/* Returns the index. `range` is NULL or a pair for each dimension. */
static inline uint32_t m_tensor(model_writer *w, const char *name, aclDataType dtype, int place, int rank,
    const int64_t *dims, const int64_t *range) {
    m_text(w, name);
    m_number(w, (uint32_t)dtype, 4);
    m_number(w, ACL_FORMAT_ND, 4);
    m_number(w, (uint64_t)place, 1);
    m_number(w, (uint64_t)rank, 1);
    m_number(w, range != NULL, 1);
    m_put(w, dims, 8 * (size_t)rank);
    if (range != NULL) m_put(w, range, 16 * (size_t)rank);
    return w->tensors++;
}

static inline uint32_t m_weight(model_writer *w, const char *name, int rank, const int64_t *dims,
    const float *values,
    size_t count) {
    const uint32_t index = m_tensor(w, name, ACL_FLOAT, M_WEIGHT, rank, dims, NULL);
    w->weight_bytes = (w->weight_bytes + 63) / 64 * 64;
    m_number(w, w->weight_bytes, 8);
    m_number(w, 4 * count, 8);
    memcpy(w->weights + w->weight_bytes, values, 4 * count);
    w->weight_bytes += 4 * count;
    return index;
}

static inline uint32_t m_external(model_writer *w, const char *name, int64_t count, const char *file) {
    const uint32_t index = m_tensor(w, name, ACL_FLOAT, M_EXTERNAL, 1, &count, NULL);
    m_number(w, 0, 8);
    m_number(w, 4 * (uint64_t)count, 8);
    m_text(w, file);
    return index;
}

static inline void m_gear(model_writer *w, uint32_t dynamic, int n, const uint64_t *values) {
    w->dynamic = dynamic;
    w->gears++;
    m_put(w, values, 8 * (size_t)n);
}

static inline void m_op(model_writer *w, const char *type, int n, const uint32_t *inputs, uint32_t output,
    int attrs) {
    char name[32];
    snprintf(name, sizeof name, "op%u", w->ops);
    m_text(w, name);
    m_text(w, type);
    m_number(w, (uint64_t)n, 1);
    m_number(w, (uint64_t)attrs, 1);
    m_put(w, inputs, 4 * (size_t)n);
    m_number(w, output, 4);
    w->ops++;
}

static inline void m_int(model_writer *w, const char *name, int64_t value) {
    m_text(w, name);
    m_number(w, 1, 1);
    m_put(w, &value, 8);
}

static inline void m_float(model_writer *w, const char *name, double value) {
    m_text(w, name);
    m_number(w, 2, 1);
    m_put(w, &value, 8);
}

static inline void m_ints(model_writer *w, const char *name, int n, const int64_t *values) {
    m_text(w, name);
    m_number(w, 3, 1);
    m_number(w, (uint64_t)n, 4);
    m_put(w, values, 8 * (size_t)n);
}

static inline void m_string(model_writer *w, const char *name, const char *value) {
    m_text(w, name);
    m_number(w, 4, 1);
    m_text(w, value);
}

/* The header over what is there; also after a test changed a byte. */
static inline void m_seal(unsigned char *bytes, size_t size, uint32_t kind, const uint32_t counts[4],
    uint64_t weights) {
    const uint32_t version = 1;
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    const uint64_t body = size - 64;
    for (size_t i = 64; i < size; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001B3);
    memset(bytes, 0, 64);
    memcpy(bytes, "MOCKACLM", 8);
    memcpy(bytes + 8, &version, 4);
    memcpy(bytes + 12, &kind, 4);
    memcpy(bytes + 16, &body, 8);
    memcpy(bytes + 24, &sum, 8);
    memcpy(bytes + 32, counts, 16);
    memcpy(bytes + 48, &weights, 8);
}

static inline void m_finish(model_writer *w) {
    m_put(w, w->weights, w->weight_bytes);
    m_seal(w->bytes, w->size, 1, (const uint32_t[4]){w->tensors, w->ops, w->gears, w->dynamic},
        w->weight_bytes);
}

/* Memory of the device with what is there. */
static inline void *uploaded(const void *from, size_t size) {
    void *p = device(size);
    OK(aclrtMemcpy(p, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE));
    return p;
}

/* Ends a list with its buffers and their memory. */
static inline void free_set(aclmdlDataset *set) {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(set); i++) {
        aclDataBuffer *b = aclmdlGetDatasetBuffer(set, i);
        OK(aclrtFree(aclGetDataBufferAddr(b)));
        OK(aclDestroyDataBuffer(b));
    }
    OK(aclmdlDestroyDataset(set));
}

#endif
