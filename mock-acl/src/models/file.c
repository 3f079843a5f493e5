/* Reads and checks a container of an offline model (docs/model-format.md; the format is our own choice).
 *
 * Codes: a wrong start gives 145000, a size that does not fit 145006 (implementation of the open graph
 * engine); a real offline model 545001, a damaged table 545002, damaged weights 545003, a damaged list of
 * operators 545004, an operator that the mock does not have 545005 (header: ACL_ERROR_GE_...; own choice
 * which). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "acl/error_codes/ge_error_codes.h"
#include "base/base.h"
#include "models/file.h"
#include "models/kinds.h"
#include "models/models.h"
#include "models/reader.h"
#include "models/tensor_desc.h"

#define MAGIC "MOCKACLM"
#define REAL_MAGIC "IMOD"
#define HEADER_BYTES 64u
#define VERSION 1u
#define TABLE_LIMIT 65536u
#define FILE_LIMIT (UINT64_C(4) << 30)

typedef struct header {
    uint32_t version, kind, tensors, ops, gears, dynamic;
    uint64_t body, checksum, weights;
} header;

static aclError refuse(uint32_t code, const char *name, const char *why) {
    return mock_fail((aclError)code, "EE4001", "%s: %s", name, why);
}

/* FNV-1a. */
static uint64_t checksum_of(const unsigned char *p, size_t n) {
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001B3);
    return h;
}

static aclError read_header(const unsigned char *bytes, size_t size, const char *name, header *h) {
    if (size >= 4 && memcmp(bytes, REAL_MAGIC, 4) == 0)
        return refuse(ACL_ERROR_GE_LOAD_MODEL, name,
            "a real offline model; mock-acl runs its own container only, see docs/model-format.md");
    if (size < HEADER_BYTES)
        return refuse(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID, name, "shorter than a header");
    if (memcmp(bytes, MAGIC, 8) != 0)
        return refuse(ACL_ERROR_GE_PARAM_INVALID, name, "no model container of mock-acl");
    mock_reader r = {bytes + 8, HEADER_BYTES - 8, false};
    h->version = mock_read_u32(&r);
    h->kind = mock_read_u32(&r);
    h->body = mock_read_u64(&r);
    h->checksum = mock_read_u64(&r);
    h->tensors = mock_read_u32(&r);
    h->ops = mock_read_u32(&r);
    h->gears = mock_read_u32(&r);
    h->dynamic = mock_read_u32(&r);
    h->weights = mock_read_u64(&r);
    if (h->version != VERSION) return refuse(ACL_ERROR_GE_PARAM_INVALID, name,
        "unknown version of the container");
    if (h->body != size - HEADER_BYTES)
        return refuse(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID, name, "not as long as its header says");
    if (checksum_of(bytes + HEADER_BYTES, (size_t)h->body) != h->checksum)
        return refuse(ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED, name, "the checksum does not fit");
    return 0;
}

/* ---- tensors ---- */

static bool sized(const mock_model_tensor *t) {
    size_t n = 0, bytes = 0;
    return mock_elements(t->shape.rank, t->shape.dims, &n) &&
           !__builtin_mul_overflow(n, mock_dtype_bytes(t->dtype), &bytes) && bytes == t->size &&
           t->offset % MOCK_MODEL_ALIGN == 0;
}

static bool read_tensor(mock_reader *r, mock_model_tensor *t, uint64_t weights) {
    t->name = mock_read_text(r);
    t->dtype = (aclDataType)(int32_t)mock_read_u32(r);
    t->format = (aclFormat)(int32_t)mock_read_u32(r);
    t->place = (mock_model_place)mock_read_u8(r);
    t->shape.rank = mock_read_u8(r);
    t->ranged = mock_read_u8(r) != 0;
    if (r->bad || (unsigned)t->place >= MOCK_PLACES || t->shape.rank > MOCK_MODEL_RANK) return false;
    if (mock_dtype_bytes(t->dtype) == 0) return false;
    for (unsigned i = 0; i < t->shape.rank; i++) {
        t->shape.dims[i] = mock_read_i64(r);
        if (t->shape.dims[i] < -1) return false;
    }
    for (unsigned i = 0; t->ranged && i < t->shape.rank; i++) {
        t->range[i][0] = mock_read_i64(r);
        t->range[i][1] = mock_read_i64(r);
        const bool open = t->range[i][1] == -1;
        if (t->range[i][0] < 0 || (!open && t->range[i][1] < t->range[i][0])) return false;
    }
    if (t->place < MOCK_PLACE_WEIGHT) return !r->bad;
    t->offset = mock_read_u64(r);
    t->size = mock_read_u64(r);
    if (t->place == MOCK_PLACE_EXTERNAL) t->file = mock_read_text(r);
    if (r->bad || t->ranged || !sized(t)) return false;
    if (t->place == MOCK_PLACE_WEIGHT) return t->offset <= weights && t->size <= weights - t->offset;
    return t->file[0] != '\0' && strchr(t->file, '/') == NULL && t->size <= FILE_LIMIT;
}

static bool open_shape(const mock_model_tensor *t) {
    for (unsigned i = 0; i < t->shape.rank; i++)
        if (t->shape.dims[i] < 0) return true;
    return false;
}

/* One more input where gears are chosen: its buffer takes the choice (guide: models, dynamic batch; header:
 * ACL_DYNAMIC_TENSOR_NAME; own choice: 64-bit numbers). */
static void add_choice(mock_model_file *f) {
    mock_model_tensor *t = &f->tensors[f->tensor_count++];
    *t = (mock_model_tensor){.name = ACL_DYNAMIC_TENSOR_NAME, .dtype = ACL_INT64, .format = ACL_FORMAT_ND};
    t->place = MOCK_PLACE_INPUT;
    t->shape = (mock_model_shape){1, {f->gear_size}};
}

static void list_ends(mock_model_file *f) {
    for (uint32_t i = 0; i < f->tensor_count; i++) {
        mock_model_tensor *t = &f->tensors[i];
        if (t->place == MOCK_PLACE_INPUT) {
            t->position = f->input_count;
            f->inputs[f->input_count++] = i;
        } else if (t->place == MOCK_PLACE_OUTPUT) {
            t->position = f->output_count;
            f->outputs[f->output_count++] = i;
        }
    }
}

/* ---- gears ---- */

static uint32_t open_dims(const mock_model_file *f) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->tensor_count; i++)
        for (unsigned k = 0; f->tensors[i].place == MOCK_PLACE_INPUT && k < f->tensors[i].shape.rank; k++)
            n += f->tensors[i].shape.dims[k] < 0;
    return n;
}

static bool read_gears(mock_reader *r, mock_model_file *f, const header *h) {
    f->dynamic = (mock_model_dynamic)h->dynamic;
    if (h->dynamic >= MOCK_MODEL_DYNAMICS || h->gears > MOCK_MODEL_GEARS) return false;
    if ((f->dynamic == MOCK_MODEL_STATIC) != (h->gears == 0)) return false;
    if (h->gears == 0) return true;
    f->gear_count = h->gears;
    f->gear_size = f->dynamic == MOCK_MODEL_DIMS ? open_dims(f) : (uint32_t)f->dynamic;
    if (f->gear_size == 0 || f->gear_size > 128) return false;
    f->gears = calloc((size_t)f->gear_count * f->gear_size, sizeof *f->gears);
    for (uint32_t i = 0; f->gears != NULL && i < f->gear_count * f->gear_size; i++) {
        f->gears[i] = mock_read_u64(r);
        if (f->gears[i] == 0 || f->gears[i] > INT32_MAX) return false;
    }
    return f->gears != NULL && !r->bad;
}

/* ---- operators ---- */

static bool skip_attr(mock_reader *r) {
    mock_read_text(r);
    switch (mock_read_u8(r)) {
    case MOCK_ATTR_INT:
    case MOCK_ATTR_FLOAT:
        mock_read_u64(r);
        return true;
    case MOCK_ATTR_INTS: {
        const uint32_t n = mock_read_u32(r);
        mock_read_bytes(r, 8 * (size_t)n);
        return n <= MOCK_MODEL_RANK;
    }
    case MOCK_ATTR_TEXT:
        mock_read_text(r);
        return true;
    default:
        return false;
    }
}

/* What it reads is there already, and what it writes is not. */
static bool read_op(mock_reader *r, const mock_model_file *f, mock_model_op *op, bool *written) {
    op->name = mock_read_text(r);
    op->type = mock_read_text(r);
    op->input_count = mock_read_u8(r);
    op->attr_count = mock_read_u8(r);
    if (r->bad || op->input_count > MOCK_MODEL_INPUTS) return false;
    for (unsigned i = 0; i < op->input_count; i++) {
        op->inputs[i] = mock_read_u32(r);
        if (op->inputs[i] >= f->tensor_count || !written[op->inputs[i]]) return false;
    }
    op->output = mock_read_u32(r);
    if (r->bad || op->output >= f->tensor_count || written[op->output]) return false;
    written[op->output] = true;
    op->attrs = r->at;
    for (unsigned i = 0; i < op->attr_count; i++)
        if (!skip_attr(r) || r->bad) return false;
    return true;
}

static aclError read_ops(mock_reader *r, mock_model_file *f, uint32_t count, const char *name) {
    bool *written = calloc(f->tensor_count + 1, sizeof *written);
    if (written == NULL) return refuse(ACL_ERROR_GE_MEMORY_ALLOCATION, name, "no host memory");
    aclError code = 0;
    for (uint32_t i = 0; i < f->tensor_count; i++) {
        const mock_model_place place = f->tensors[i].place;
        written[i] = place != MOCK_PLACE_OUTPUT && place != MOCK_PLACE_INNER;
    }
    for (uint32_t i = 0; i < count && code == 0; i++) {
        mock_model_op *op = &f->ops[i];
        if (!read_op(r, f, op, written)) {
            code = refuse(ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED, name, "a damaged operator");
            break;
        }
        f->op_count = i + 1;
        op->kind = mock_model_kind_find(op->type, op->input_count);
        if (op->kind == NULL)
            code = mock_fail((aclError)ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED, "EE4001",
                "%s: operator %s of type %s with %u inputs is not in mock-acl", name, op->name, op->type,
                op->input_count);
    }
    for (uint32_t i = 0; i < f->tensor_count && code == 0; i++)
        if (!written[i])
            code = refuse(ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED, name, "a tensor that nothing writes");
    free(written);
    return code;
}

/* ---- the whole ---- */

static aclError read_body(mock_model_file *f, const header *h, const char *name) {
    mock_reader r = {f->bytes + HEADER_BYTES, (size_t)h->body, false};
    if (h->weights > h->body) return refuse(ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED, name,
        "no room for its weights");
    r.left -= (size_t)h->weights;
    f->weights = f->bytes + HEADER_BYTES + (h->body - h->weights);
    f->weight_bytes = h->weights;
    for (uint32_t i = 0; i < h->tensors; i++) {
        if (!read_tensor(&r, &f->tensors[i], h->weights)) {
            const bool weight = !r.bad && f->tensors[i].place >= MOCK_PLACE_WEIGHT;
            return refuse(weight ? ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED
                                 : ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED, name, "a damaged tensor");
        }
        f->tensor_count = i + 1;
    }
    if (!read_gears(&r, f, h))
        return refuse(ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED, name, "damaged gears");
    if (f->gear_count != 0) add_choice(f);
    list_ends(f);
    for (uint32_t i = 0; i < f->tensor_count; i++)
        if (f->tensors[i].place >= MOCK_PLACE_WEIGHT && open_shape(&f->tensors[i]))
            return refuse(ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED, name, "a weight of no fixed shape");
    const aclError code = read_ops(&r, f, h->ops, name);
    if (code != 0) return code;
    if (r.left != 0) return refuse(ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED, name,
        "more than it should hold");
    return 0;
}

static mock_model_file *new_file(const void *bytes, size_t size, const header *h) {
    mock_model_file *f = calloc(1, sizeof *f);
    if (f == NULL) return NULL;
    atomic_store(&f->refs, 1);
    f->bytes = malloc(size);
    f->tensors = calloc((size_t)h->tensors + 1, sizeof *f->tensors);
    f->ops = calloc((size_t)h->ops + 1, sizeof *f->ops);
    f->inputs = calloc((size_t)h->tensors + 1, sizeof *f->inputs);
    f->outputs = calloc((size_t)h->tensors + 1, sizeof *f->outputs);
    if (f->bytes == NULL || f->tensors == NULL || f->ops == NULL || f->inputs == NULL || f->outputs == NULL) {
        mock_model_file_unref(f);
        return NULL;
    }
    memcpy(f->bytes, bytes, size);
    return f;
}

aclError mock_model_parse(const void *bytes, size_t size, const char *name, mock_model_file **out) {
    header h = {0};
    aclError code = read_header(bytes, size, name, &h);
    if (code != 0) return code;
    if (h.kind != 1) return refuse(ACL_ERROR_GE_PARAM_INVALID, name, "a bundle, not a model");
    /* A tensor and an operator take more than 8 bytes each, so a short file asks for little memory. */
    if (h.tensors > TABLE_LIMIT || h.ops > TABLE_LIMIT || 8 * ((uint64_t)h.tensors + h.ops) > h.body)
        return refuse(ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED, name,
            "more entries than it has room for");
    mock_model_file *f = new_file(bytes, size, &h);
    if (f == NULL) return refuse(ACL_ERROR_GE_MEMORY_ALLOCATION, name, "no host memory");
    code = read_body(f, &h, name);
    if (code == 0) *out = f;
    else mock_model_file_unref(f);
    return code;
}

void mock_model_file_ref(mock_model_file *f) { atomic_fetch_add(&f->refs, 1); }

void mock_model_file_unref(mock_model_file *f) {
    if (f == NULL || atomic_fetch_sub(&f->refs, 1) != 1) return;
    free(f->bytes);
    free(f->tensors);
    free(f->ops);
    free(f->inputs);
    free(f->outputs);
    free(f->gears);
    free(f);
}

aclError mock_bundle_parse(const void *bytes, size_t size, const char *name, mock_bundle_layout *out) {
    header h = {0};
    const aclError code = read_header(bytes, size, name, &h);
    if (code != 0) return code;
    if (h.kind != 2) return refuse(ACL_ERROR_INVALID_PARAM, name, "a model, not a bundle");
    if (h.tensors == 0 || h.tensors > 64)
        return refuse(ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED, name, "a bundle holds 1 to 64 models");
    mock_reader r = {(const unsigned char *)bytes + HEADER_BYTES, (size_t)h.body, false};
    out->count = h.tensors;
    out->variable_bytes = h.weights;
    uint64_t offset = HEADER_BYTES + 8 * (uint64_t)h.tensors;
    for (uint32_t i = 0; i < h.tensors; i++) {
        out->parts[i] = (mock_bundle_part){offset, mock_read_u64(&r)};
        if (r.bad || offset > size || out->parts[i].size > size - offset)
            return refuse(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID, name, "a model beyond the end");
        offset += out->parts[i].size;
    }
    return 0;
}

aclError mock_model_read(const char *path, unsigned char **bytes, size_t *size) {
    FILE *f = fopen(path, "rb");
    long end = -1;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0) end = ftell(f);
    if (end < 0 || (uint64_t)end > FILE_LIMIT || fseek(f, 0, SEEK_SET) != 0) {
        if (f != NULL) fclose(f);
        return refuse(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, path, f == NULL
            ? strerror(errno) : "no file to read");
    }
    *bytes = malloc((size_t)end + 1);
    *size = *bytes == NULL ? 0 : fread(*bytes, 1, (size_t)end, f);
    fclose(f);
    if (*bytes == NULL) return refuse(ACL_ERROR_GE_MEMORY_ALLOCATION, path, "no host memory");
    if (*size == (size_t)end) return 0;
    free(*bytes);
    return refuse(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, path, "it cannot be read");
}
