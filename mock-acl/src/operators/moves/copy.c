/* Cast, Permute, InplaceCopy, InplaceFillScalar, InplaceOne and InplaceZero (guide: aclnn, page of each).
 *
 * Conversions are those of objects/dtype.c: to f16 and bf16 rounded to nearest even, to integers towards zero,
 * saturating, NaN to 0, integers to narrower ones by their low bits. Equal types are moved bit by bit, so
 * NaN keeps its payload. Deterministic (guide: aclnn, aclnnCast). The out of Cast may have a stride of 0: one of
 * the elements that fall together stays. No workspace. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/moves/moves.h"
#include "operators/operators.h"

#define CHUNK 512

/* Which operand is written and, for Permute, the source with its dimensions in the new order. */
typedef struct copy_params {
    mock_view from;
    int8_t source;
    int8_t out;
} copy_params;

static void convert_row(int32_t to, int32_t from, const mock_walk *w) {
    double buffer[CHUNK];
    const mock_class class = mock_dtype_class(from);
    for (size_t at = 0; at < w->n; at += CHUNK) {
        const size_t n = w->n - at < CHUNK ? w->n - at : CHUNK;
        char *out = w->row[0] + (int64_t)at * w->step[0] * (int64_t)w->size[0];
        const char *in = w->row[1] + (int64_t)at * w->step[1] * (int64_t)w->size[1];
        mock_store(class, to, out, w->step[0], n, mock_load(class, from, in, w->step[1], n, buffer));
    }
}

#define MOVE_CASE(T)                                                                               \
    case sizeof(T):                                                                                \
        for (size_t i = 0; i < w->n; i++) {                                                        \
            ((T *)(void *)w->row[0])[(int64_t)i * w->step[0]] =                                    \
                ((const T *)(void *)w->row[1])[(int64_t)i * w->step[1]];                           \
        }                                                                                          \
        break;

static void move_row(const mock_walk *w) {
    if (w->step[0] == 1 && w->step[1] == 1) {
        memmove(w->row[0], w->row[1], w->n * w->size[0]);
        return;
    }
    switch (w->size[0]) {
        MOVE_CASE(uint8_t)
        MOVE_CASE(uint16_t)
        MOVE_CASE(uint32_t)
        MOVE_CASE(uint64_t)
    }
}

void mock_copy_view(const mock_view *to, void *to_first, const mock_view *from, void *from_first) {
    mock_walk w;
    mock_walk_begin(&w, to->rank, to->dims);
    mock_walk_add(&w, to, to_first);
    mock_walk_add(&w, from, from_first);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        if (to->dtype == from->dtype) move_row(&w);
        else convert_row(to->dtype, from->dtype, &w);
    }
}

static aclError run_copy(void *arg) {
    const mock_plan *plan = arg;
    const copy_params *p = MOCK_PARAMS((mock_plan *)arg, copy_params);
    void *to = mock_plan_pointer(plan, (unsigned)p->out);
    void *from = mock_plan_pointer(plan, (unsigned)p->source);
    if (to == NULL || from == NULL) return MOCK_DEVICE_FAULT;
    mock_copy_view(&plan->views[p->out], to, &p->from, from);
    return 0;
}

static void plan_copy(mock_build *b, const mock_view *from, int source, int out) {
    *MOCK_PARAMS(b->plan, copy_params) = (copy_params){*from, (int8_t)source, (int8_t)out};
}

MOCK_OPERATOR(aclnnCast, run_copy)
MOCK_OPERATOR(aclnnPermute, run_copy)
MOCK_OPERATOR(aclnnInplaceCopy, run_copy)

aclnnStatus aclnnCastGetWorkspaceSize(
    const aclTensor *self, const aclDataType dtype, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnCastGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnCast_task, workspaceSize, executor);
    const mock_view *from = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT_SPREAD);
    if (b.status == 0) {
        if (to->dtype != (int32_t)dtype) {
            mock_build_fail(&b, "out has data type %s, but dtype is %s", mock_dtype_name(to->dtype),
                mock_dtype_name(dtype));
        }
        mock_require_shape(&b, to, "out", from, "the shape of self");
        plan_copy(&b, from, 0, 1);
    }
    return mock_build_finish(&b);
}

/* Every dimension once (guide: aclnn, aclnnPermute), also counted from the end; the same type (own
 * choice). */
static void check_order(mock_build *b, const mock_array *dims, const mock_view *self, mock_view *permuted) {
    unsigned seen = 0;
    mock_shape_text text;
    *permuted = (mock_view){.dtype = self->dtype, .rank = self->rank};
    if (dims->size != self->rank) {
        mock_build_fail(b, "dims has %llu entries, self has shape %s", (unsigned long long)dims->size,
            mock_shape(self, &text));
        return;
    }
    for (int i = 0; i < self->rank && b->status == 0; i++) {
        const int64_t wanted = ((const int64_t *)dims->values)[i];
        const int dim = mock_require_dim(b, "dims", wanted, self->rank);
        if (dim < 0) return;
        if ((seen & 1u << dim) != 0) mock_build_fail(b, "dims names dimension %d twice", dim);
        seen |= 1u << dim;
        permuted->dims[i] = self->dims[dim];
        permuted->strides[i] = self->strides[dim];
    }
}

aclnnStatus aclnnPermuteGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dims, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnPermuteGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnPermute_task, workspaceSize, executor);
    const mock_view *from = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *order = mock_build_ints(&b, dims, "dims");
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) {
        mock_view permuted;
        check_order(&b, order, from, &permuted);
        mock_require_shape(&b, to, "out", &permuted, "self in the order of dims");
        if (to->dtype != from->dtype) {
            mock_build_fail(&b, "out has data type %s, self has %s", mock_dtype_name(to->dtype),
                mock_dtype_name(from->dtype));
        }
        plan_copy(&b, &permuted, 0, 1);
    }
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceCopyGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *src, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceCopyGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceCopy_task, workspaceSize, executor);
    const mock_view *to = mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    const mock_view *from = mock_build_tensor(&b, src, "src", MOCK_IN);
    if (b.status == 0) {
        mock_view common;
        mock_shape_text have, want;
        if (!mock_broadcast(to, from, &common) || !mock_same_shape(&common, to)) {
            mock_build_fail(&b, "src with shape %s does not broadcast to selfRef with shape %s",
                mock_shape(from, &have), mock_shape(to, &want));
        }
        plan_copy(&b, from, 1, 0);
    }
    return mock_build_finish(&b);
}

/* The element to fill with, already in the tensor's type. */
typedef struct fill_params {
    _Alignas(8) unsigned char element[8];
} fill_params;

static aclError run_fill(void *arg) {
    const mock_plan *plan = arg;
    const mock_view *out = &plan->views[0];
    void *to = mock_plan_pointer(plan, 0);
    mock_view constant = {.dtype = out->dtype};
    mock_walk w;
    if (to == NULL) return MOCK_DEVICE_FAULT;
    mock_walk_begin(&w, out->rank, out->dims);
    mock_walk_add(&w, out, to);
    mock_walk_add(&w, &constant, MOCK_PARAMS((mock_plan *)arg, fill_params)->element);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) move_row(&w);
    return 0;
}

MOCK_OPERATOR(aclnnInplaceFillScalar, run_fill)
MOCK_OPERATOR(aclnnInplaceOne, run_fill)
MOCK_OPERATOR(aclnnInplaceZero, run_fill)

/* The value is converted to the tensor's type once, here. */
static void plan_fill(mock_build *b, mock_class class, const void *value) {
    const mock_view *out = &b->plan->views[0];
    fill_params *p = MOCK_PARAMS(b->plan, fill_params);
    mock_store(class, out->dtype, p->element, 1, 1, value);
}

static void plan_constant(mock_build *b, const aclTensor *selfRef, int64_t value) {
    mock_build_tensor(b, selfRef, "selfRef", MOCK_OUT);
    if (b->status == 0) plan_fill(b, MOCK_I64, &value);
}

aclnnStatus aclnnInplaceFillScalarGetWorkspaceSize(
    aclTensor *selfRef, const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceFillScalarGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceFillScalar_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    if (b.status == 0 && mock_dtype_is_floating(number->dtype)) {
        plan_fill(&b, MOCK_F64, &(double){mock_scalar_double(number)});
    } else if (b.status == 0) {
        plan_fill(&b, MOCK_I64, &(int64_t){mock_scalar_int(number)});
    }
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceOneGetWorkspaceSize(
    const aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceOneGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceOne_task, workspaceSize, executor);
    plan_constant(&b, selfRef, 1);
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceZeroGetWorkspaceSize(
    aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceZeroGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceZero_task, workspaceSize, executor);
    plan_constant(&b, selfRef, 0);
    return mock_build_finish(&b);
}
