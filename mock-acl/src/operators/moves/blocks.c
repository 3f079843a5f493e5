/* Weights in blocks: NpuFormatCast, TransMatmulWeight and what tells their sizes (guide: aclnn, page of each;
 * layouts: objects/blocked.c).
 *
 * NpuFormatCast goes between a plain format and FRACTAL_NZ, NC1HWC0 or FRACTAL_Z; the other formats in blocks
 * are refused by name. Its dstTensor must be dense; elements keep their bits. TransMatmulWeight turns a dense
 * weight into FRACTAL_NZ where it lies, which needs the room that CalculateMatmulWeightSize tells, and its
 * aclTensor says so from the first phase on (guide: aclnn, aclnnTransMatmulWeight). No workspace. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/moves/moves.h"
#include "operators/operators.h"

typedef struct side {
    bool blocked;
    mock_blocked layout;
} side;

typedef struct cast {
    side from, to;
    mock_view dense; /* what both sides are views of */
} cast;

static const char *format_name(aclFormat format) {
    switch (format) {
        case ACL_FORMAT_NC1HWC0: return "NC1HWC0";
        case ACL_FORMAT_FRACTAL_Z: return "FRACTAL_Z";
        case ACL_FORMAT_NC1HWC0_C04: return "NC1HWC0_C04";
        case ACL_FORMAT_FRACTAL_NZ: return "FRACTAL_NZ";
        case ACL_FORMAT_NDC1HWC0: return "NDC1HWC0";
        case ACL_FRACTAL_Z_3D: return "FRACTAL_Z_3D";
        case ACL_FORMAT_FRACTAL_NZ_C0_16: return "FRACTAL_NZ_C0_16";
        case ACL_FORMAT_FRACTAL_NZ_C0_32: return "FRACTAL_NZ_C0_32";
        case ACL_FORMAT_FRACTAL_NZ_C0_2: return "FRACTAL_NZ_C0_2";
        case ACL_FORMAT_FRACTAL_NZ_C0_4: return "FRACTAL_NZ_C0_4";
        case ACL_FORMAT_FRACTAL_NZ_C0_8: return "FRACTAL_NZ_C0_8";
        default: return NULL;
    }
}

/* Dense strides for the dimensions of `v`. */
static void make_dense(mock_view *v) {
    int64_t step = 1;
    for (int i = v->rank; i-- > 0; step *= v->dims[i]) v->strides[i] = step;
    v->offset = 0;
    v->span = step;
}

/* The operand as it is stored: blocks are one line of elements. */
static void take_blocks(mock_build *b, const mock_tensor *t, const char *param, side *s, mock_view *v) {
    const int64_t width = t->storage_rank == 0 ? 0 : t->storage[t->storage_rank - 1];
    const size_t size = mock_dtype_size(t->view.dtype);
    if (mock_dtype_class(t->view.dtype) == MOCK_CLASS_NONE) {
        mock_build_fail(
            b, "%s has data type %s, which is not supported", param, mock_dtype_name(t->view.dtype));
        return;
    }
    if (width == 0 || t->view.offset != 0 ||
        !mock_blocked_lay(&s->layout, t->format, size, t->view.dims, t->view.rank, width) ||
        !mock_blocked_is(&s->layout, t->storage, t->storage_rank)) {
        mock_build_fail(b, "%s has format %s, but not the storage dimensions of its shape, or an offset", param,
            format_name(t->format));
        return;
    }
    s->blocked = true;
    *v = t->view;
    v->rank = 1;
    v->dims[0] = v->span = s->layout.count;
    v->strides[0] = 1;
}

static void take_side(mock_build *b, const aclTensor *tensor, const char *param, mock_role role, side *s) {
    if (b->status != 0) return;
    const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, tensor);
    mock_view *v = &b->plan->views[b->plan->count];
    if (t == NULL || (!mock_blocked_format(t->format) && format_name(t->format) == NULL)) {
        mock_build_tensor(b, tensor, param, role);
        return;
    }
    if (!mock_blocked_format(t->format)) {
        mock_build_fail(
            b, "%s has format %d (%s), which is not supported", param, (int)t->format, format_name(t->format));
        return;
    }
    take_blocks(b, t, param, s, v);
    v->role = (uint8_t)role;
    v->absent = v->list = false;
    v->width = 0;
    b->plan->count++;
}

static aclError run_cast(void *arg) {
    const mock_plan *plan = arg;
    const cast *c = plan->extra;
    const mock_view *from = &plan->views[0], *to = &plan->views[plan->count - 1];
    const size_t size = mock_dtype_size(from->dtype);
    void *source = mock_plan_pointer(plan, 0), *target = mock_plan_pointer(plan, plan->count - 1u);
    if (source == NULL || target == NULL) return MOCK_DEVICE_FAULT;
    char *dense = malloc((size_t)c->dense.span * size + 1);
    if (dense == NULL) return MOCK_DEVICE_FAULT;
    if (c->from.blocked)
        mock_blocked_unpack(&c->from.layout, size, source, dense);
    else if (c->dense.span != 0)
        mock_copy_view(&c->dense, dense, from, source);
    if (c->to.blocked)
        mock_blocked_pack(&c->to.layout, size, dense, target);
    else if (to->span != 0)
        memcpy(target, dense, (size_t)to->span * size);
    free(dense);
    return 0;
}

MOCK_OPERATOR(aclnnNpuFormatCast, run_cast)
MOCK_OPERATOR(aclnnTransMatmulWeight, run_cast)

static mock_view view_of(const aclTensor *tensor) {
    const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, tensor);
    return t->view;
}

aclnnStatus aclnnNpuFormatCastGetWorkspaceSize(
    const aclTensor *srcTensor, aclTensor *dstTensor, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnNpuFormatCastGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnNpuFormatCast_task, workspaceSize, executor);
    cast *c = mock_build_extra(&b, sizeof *c), none;
    if (c == NULL) c = &none;
    take_side(&b, srcTensor, "srcTensor", MOCK_IN, &c->from);
    take_side(&b, dstTensor, "dstTensor", MOCK_OUT, &c->to);
    if (b.status != 0) return mock_build_finish(&b);
    c->dense = view_of(srcTensor);
    make_dense(&c->dense);
    const mock_view to = view_of(dstTensor);
    if (to.dtype != c->dense.dtype) {
        mock_build_fail(&b, "srcTensor has data type %s, dstTensor %s", mock_dtype_name(c->dense.dtype),
            mock_dtype_name(to.dtype));
    }
    mock_require_shape(&b, &to, "dstTensor", &c->dense, "the shape of srcTensor");
    if (!c->to.blocked && !mock_is_contiguous(&to)) mock_build_fail(&b, "dstTensor is not dense");
    return mock_build_finish(&b);
}

/* The caller deletes dstShape; C++ and malloc have one heap here. additionalDtype below 0: that of srcTensor.
 */
static aclnnStatus tell_shape(
    const char *name, const mock_tensor *t, aclFormat format, int type, int64_t **shape, uint64_t *count) {
    const bool own = type < 0;
    const size_t size = mock_dtype_size(own ? t->view.dtype : type);
    mock_blocked l = {.storage_rank = t->view.rank};
    memcpy(l.storage, t->view.dims, sizeof l.storage);
    if (size == 0) return mock_bad_parameter(name, "additionalDtype %d is not supported", type);
    if (mock_blocked_format(format)) {
        if (!mock_blocked_lay(&l, format, size, t->view.dims, t->view.rank, 0))
            return mock_bad_parameter(name, "srcTensor has %d dimensions, which %s does not store",
                t->view.rank, format_name(format));
    } else if (format_name(format) != NULL) {
        return mock_bad_parameter(name, "dstFormat %d (%s) is not supported", (int)format, format_name(format));
    }
    int64_t *told = malloc(((size_t)l.storage_rank + 1) * sizeof *told);
    if (told == NULL) return ACLNN_ERR_INNER;
    memcpy(told, l.storage, (size_t)l.storage_rank * sizeof *told);
    *shape = told;
    *count = (uint64_t)l.storage_rank;
    return 0;
}

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor *srcTensor, const int dstFormat,
    int additionalDtype, int64_t **dstShape, uint64_t *dstShapeSize, int *actualFormat) {
    static const char name[] = "aclnnNpuFormatCastCalculateSizeAndFormat";
    MOCK_ENTER(aclnnNpuFormatCastCalculateSizeAndFormat);
    const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, srcTensor);
    if (srcTensor == NULL) return mock_null_parameter(name, "srcTensor");
    if (t == NULL) return mock_bad_parameter(name, "srcTensor is not a live aclTensor");
    if (dstShape == NULL) return mock_null_parameter(name, "dstShape");
    if (dstShapeSize == NULL) return mock_null_parameter(name, "dstShapeSize");
    if (actualFormat == NULL) return mock_null_parameter(name, "actualFormat");
    const aclFormat format = (aclFormat)dstFormat;
    const bool plain = dstFormat == ACL_FORMAT_ND || dstFormat == ACL_FORMAT_NCHW;
    if (!plain && format_name(format) == NULL)
        return mock_bad_parameter(name, "dstFormat %d is not supported", dstFormat);
    const aclnnStatus status = tell_shape(name, t, format, additionalDtype, dstShape, dstShapeSize);
    if (status == 0) *actualFormat = dstFormat;
    return status;
}

/* In elements. Weights have 2 to 6 dimensions (guide: aclnn, aclnnCalculateMatmulWeightSizeV2). */
static aclnnStatus weight_size(const char *name, const aclIntArray *shape, int32_t dtype, uint64_t *out) {
    const mock_array *a = mock_object_get(MOCK_OBJECT_ARRAY, shape);
    mock_blocked l;
    if (shape == NULL) return mock_null_parameter(name, "tensorShape");
    if (a == NULL || a->dtype != ACL_INT64)
        return mock_bad_parameter(name, "tensorShape is not a live aclIntArray");
    if (out == NULL) return mock_null_parameter(name, "weightTensorSize");
    if (dtype != ACL_FLOAT16 && dtype != ACL_BF16 && dtype != ACL_INT8)
        return mock_bad_parameter(
            name, "dataType %s; FLOAT16, BFLOAT16 and INT8 are supported", mock_dtype_name(dtype));
    const int64_t *dims = a->values;
    for (uint64_t i = 0; i < a->size; i++)
        if (dims[i] < 0) return mock_bad_parameter(name, "tensorShape[%d] is %lld", (int)i, (long long)dims[i]);
    if (a->size < 2 || a->size > 6 ||
        !mock_blocked_lay(&l, ACL_FORMAT_FRACTAL_NZ, mock_dtype_size(dtype), dims, (int)a->size, 0))
        return mock_bad_parameter(name,
            "tensorShape has %llu dimensions, 2 to 6 are supported, or is too large",
            (unsigned long long)a->size);
    *out = (uint64_t)l.count;
    return 0;
}

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape, uint64_t *weightTensorSize) {
    MOCK_ENTER(aclnnCalculateMatmulWeightSize);
    return weight_size("aclnnCalculateMatmulWeightSize", tensorShape, ACL_FLOAT16, weightTensorSize);
}

aclnnStatus aclnnCalculateMatmulWeightSizeV2(
    const aclIntArray *tensorShape, aclDataType dataType, uint64_t *weightTensorSize) {
    MOCK_ENTER(aclnnCalculateMatmulWeightSizeV2);
    return weight_size("aclnnCalculateMatmulWeightSizeV2", tensorShape, dataType, weightTensorSize);
}

aclnnStatus aclnnTransMatmulWeightGetWorkspaceSize(
    aclTensor *mmWeightRef, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnTransMatmulWeightGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnTransMatmulWeight_task, workspaceSize, executor);
    cast *c = mock_build_extra(&b, sizeof *c), none;
    if (c == NULL) c = &none;
    const mock_view *v = mock_build_tensor(&b, mmWeightRef, "mmWeightRef", MOCK_IN);
    if (v == NULL) return mock_build_finish(&b);
    mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, mmWeightRef);
    c->dense = *v;
    make_dense(&c->dense);
    if (v->dtype != ACL_FLOAT16 && v->dtype != ACL_BF16 && v->dtype != ACL_INT8) {
        mock_build_fail(&b, "mmWeightRef has data type %s; FLOAT16, BFLOAT16 and INT8 are supported",
            mock_dtype_name(v->dtype));
    } else if (!mock_is_contiguous(v) || v->offset != 0) {
        mock_build_fail(&b, "mmWeightRef is not dense, or has an offset");
    } else if (v->rank < 2 || v->rank > 6 ||
               !mock_blocked_lay(
                   &c->to.layout, ACL_FORMAT_FRACTAL_NZ, mock_dtype_size(v->dtype), v->dims, v->rank, 0)) {
        mock_build_fail(&b, "mmWeightRef has %d dimensions, 2 to 6 are supported", v->rank);
    } else {
        mock_view *to = &b.plan->views[b.plan->count++];
        *to = *v;
        c->to.blocked = true;
        to->role = MOCK_OUT;
        to->rank = 1;
        to->dims[0] = to->span = c->to.layout.count;
        to->strides[0] = 1;
    }
    const mock_blocked l = c->to.layout;
    const aclnnStatus status = mock_build_finish(&b);
    if (status != 0) return status;
    t->format = ACL_FORMAT_FRACTAL_NZ;
    t->storage_rank = (uint8_t)l.storage_rank;
    memcpy(t->storage, l.storage, sizeof t->storage);
    return 0;
}
