/* Names of operators that copy, convert, turn, cut, pad, join and gather (facts of names, inputs and
 * attributes: guide: operator specifications). */
#include <string.h>

#include "named/call.h"

#define IN(i) (c->inputs[i].tensor)
#define OUT (c->outputs[0].tensor)

static aclnnStatus copy_from(mock_named_call *c, aclTensor *from) {
    return MOCK_STEP(c, aclnnInplaceCopy, OUT, from);
}

static bool same_dims(const mock_named_operand *o, int rank, const int64_t *dims) {
    return o->rank == rank && memcmp(o->dims, dims, (size_t)rank * sizeof *dims) == 0;
}

/* The output has to have the shape that inputs and attributes give. */
static bool shaped(mock_named_call *c, int rank, const int64_t *dims) {
    if (c->code != 0) return false;
    if (!same_dims(&c->outputs[0], rank, dims))
        mock_named_fail(
            c, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "the output does not have the shape that the inputs give");
    return c->code == 0;
}

/* Formats change on the way in and out: operand.c. */
static aclnnStatus copy(mock_named_call *c) {
    return shaped(c, c->inputs[0].rank, c->inputs[0].dims) ? copy_from(c, IN(0)) : ACLNN_ERR_PARAM_INVALID;
}

static aclnnStatus cast(mock_named_call *c) {
    const aclDataType type = c->outputs[0].desc->dtype;
    const int64_t told = mock_named_int_attr(c, "dst_type", type);
    if (c->code == 0 && told != type)
        return mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "dst_type is %lld, the output has data type %d",
            (long long)told, (int)type);
    return MOCK_STEP(c, aclnnCast, IN(0), type, OUT);
}

static aclnnStatus permute(mock_named_call *c, const int64_t *order, int count) {
    return MOCK_STEP(c, aclnnPermute, IN(0), mock_named_array(c, order, count), OUT);
}

static aclnnStatus transpose(mock_named_call *c) {
    int64_t order[MOCK_MAX_RANK];
    const int count = mock_named_ints(c, 1, order, MOCK_MAX_RANK);
    return count < 0 ? ACLNN_ERR_PARAM_INVALID : permute(c, order, count);
}

static int needed_attr(mock_named_call *c, const char *name, int64_t *values, int most) {
    mock_named_need_attr(c, name);
    return mock_named_ints_attr(c, name, values, most);
}

static aclnnStatus transpose_d(mock_named_call *c) {
    int64_t order[MOCK_MAX_RANK];
    const int count = needed_attr(c, "perm", order, MOCK_MAX_RANK);
    return count < 0 ? ACLNN_ERR_PARAM_INVALID : permute(c, order, count);
}

static aclnnStatus broadcast_to(mock_named_call *c) {
    int64_t dims[MOCK_MAX_RANK];
    const int rank = mock_named_ints(c, 1, dims, MOCK_MAX_RANK);
    return rank >= 0 && shaped(c, rank, dims) ? copy_from(c, IN(0)) : ACLNN_ERR_PARAM_INVALID;
}

/* dims, value */
static aclnnStatus fill(mock_named_call *c) {
    int64_t dims[MOCK_MAX_RANK];
    const int rank = mock_named_ints(c, 0, dims, MOCK_MAX_RANK);
    return rank >= 0 && shaped(c, rank, dims) ? copy_from(c, IN(1)) : ACLNN_ERR_PARAM_INVALID;
}

static aclnnStatus zeros(mock_named_call *c) { return MOCK_STEP(c, aclnnInplaceZero, OUT); }
static aclnnStatus ones(mock_named_call *c) { return MOCK_STEP(c, aclnnInplaceOne, OUT); }

/* ---- pads ---- */

/* From (before, after) of each dimension to pairs that start with the last one. */
static aclnnStatus pad_with(mock_named_call *c, const int64_t *pads, bool pairs, double value) {
    int64_t turned[2 * MOCK_MAX_RANK];
    const int rank = c->inputs[0].rank;
    for (int i = 0; i < rank; i++) {
        turned[2 * (rank - 1 - i)] = pairs ? pads[2 * i] : pads[i];
        turned[2 * (rank - 1 - i) + 1] = pairs ? pads[2 * i + 1] : pads[rank + i];
    }
    return MOCK_STEP(
        c, aclnnConstantPadNd, IN(0), mock_named_array(c, turned, 2 * rank), mock_named_float(c, value), OUT);
}

/* A value on the device: it fills the output, and the input goes into its place. Nothing is cut off. */
static aclnnStatus pad_with_tensor(mock_named_call *c, const int64_t *pads, bool pairs) {
    const mock_named_operand *x = &c->inputs[0], *y = &c->outputs[0];
    int64_t strides[MOCK_MAX_RANK], dims[MOCK_MAX_RANK], step = 1, offset = 0;
    for (int i = x->rank; i-- > 0;) {
        const int64_t before = pairs ? pads[2 * i] : pads[i],
                      after = pairs ? pads[2 * i + 1] : pads[x->rank + i];
        if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX)
            return mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH,
                "padding of %lld and %lld with a value on the device", (long long)before, (long long)after);
        dims[i] = x->dims[i] + before + after;
        strides[i] = step;
        offset += before * step;
        if (__builtin_mul_overflow(step, dims[i], &step)) step = 0;
    }
    if (!shaped(c, x->rank, dims)) return ACLNN_ERR_PARAM_INVALID;
    aclTensor *inner = mock_named_view(c, y, x->rank, x->dims, strides, offset);
    const aclnnStatus status = copy_from(c, IN(2));
    return status != 0 ? status : MOCK_STEP(c, aclnnInplaceCopy, inner, IN(0));
}

static bool read_pads(mock_named_call *c, int64_t *pads) {
    const int count = mock_named_ints(c, 1, pads, 2 * MOCK_MAX_RANK);
    if (count >= 0 && count != 2 * c->inputs[0].rank)
        mock_named_fail(
            c, ACL_ERROR_OP_INPUT_NOT_MATCH, "%d paddings for %d dimensions", count, c->inputs[0].rank);
    return c->code == 0;
}

static aclnnStatus pad(mock_named_call *c) {
    int64_t pads[2 * MOCK_MAX_RANK];
    return read_pads(c, pads) ? pad_with(c, pads, true, 0) : ACLNN_ERR_PARAM_INVALID;
}

static aclnnStatus pad_v3(mock_named_call *c) {
    int64_t pads[2 * MOCK_MAX_RANK];
    const char *mode = mock_named_text_attr(c, "mode");
    if (mode != NULL && strcmp(mode, "constant") != 0)
        return mock_named_fail(
            c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "mode %s is not supported by mock-acl", mode);
    const bool pairs = mock_named_bool_attr(c, "paddings_contiguous", true);
    if (!read_pads(c, pads)) return ACLNN_ERR_PARAM_INVALID;
    const bool given = c->input_count > 2 && !c->inputs[2].absent;
    if (given && c->inputs[2].host == NULL) return pad_with_tensor(c, pads, pairs);
    return pad_with(c, pads, pairs, given ? mock_named_number(c, 2) : 0);
}

/* ---- parts ---- */

static void dense_strides(const mock_named_operand *o, int64_t *strides) {
    int64_t step = 1;
    for (int i = o->rank; i-- > 0; step *= o->dims[i]) strides[i] = step;
}

static aclnnStatus slice(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0];
    int64_t from[MOCK_MAX_RANK], size[MOCK_MAX_RANK], strides[MOCK_MAX_RANK], offset = 0;
    const int first = mock_named_ints(c, 1, from, MOCK_MAX_RANK),
              second = mock_named_ints(c, 2, size, MOCK_MAX_RANK);
    if (c->code == 0 && (first != x->rank || second != x->rank))
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "%d offsets and %d sizes for %d dimensions", first,
            second, x->rank);
    dense_strides(x, strides);
    for (int i = 0; c->code == 0 && i < x->rank; i++) {
        const bool good = from[i] >= 0 && from[i] <= x->dims[i];
        if (good && size[i] == -1) size[i] = x->dims[i] - from[i];
        if (!good || size[i] < 0 || size[i] > x->dims[i] - from[i])
            mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "dimension %d of %lld has no %lld from %lld on", i,
                (long long)x->dims[i], (long long)size[i], (long long)from[i]);
        offset += from[i] * strides[i];
    }
    if (!shaped(c, x->rank, size)) return ACLNN_ERR_PARAM_INVALID;
    return copy_from(c, mock_named_view(c, x, x->rank, size, strides, offset));
}

static int64_t within(int64_t at, int64_t size) {
    if (at < 0) at += size;
    return at < 0 ? 0 : at > size ? size : at;
}

/* Masks of begin, end and shrink_axis; those of the others have to be 0, steps positive. */
static aclnnStatus strided_slice(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0];
    int64_t part[3][MOCK_MAX_RANK], dims[MOCK_MAX_RANK], strides[MOCK_MAX_RANK], kept[MOCK_MAX_RANK],
        offset = 0;
    int count[3] = {0}, rank = 0;
    for (int k = 0; k < 3; k++) count[k] = mock_named_ints(c, k + 1, part[k], MOCK_MAX_RANK);
    const int64_t no_begin = mock_named_int_attr(c, "begin_mask", 0),
                  no_end = mock_named_int_attr(c, "end_mask", 0);
    const int64_t shrunk = mock_named_int_attr(c, "shrink_axis_mask", 0);
    if (mock_named_int_attr(c, "ellipsis_mask", 0) != 0 || mock_named_int_attr(c, "new_axis_mask", 0) != 0)
        mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "ellipsis_mask and new_axis_mask are not supported by mock-acl");
    if (c->code == 0 && (count[0] > x->rank || count[1] != count[0] || count[2] != count[0]))
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH,
            "begin, end and strides have %d, %d and %d numbers for %d dimensions", count[0], count[1], count[2],
            x->rank);
    dense_strides(x, strides);
    for (int i = 0; c->code == 0 && i < x->rank; i++) {
        const bool told = i < count[0], cut = told && (shrunk >> i & 1) != 0;
        const int64_t step = told ? part[2][i] : 1;
        if (step < 1)
            return mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "a step of %lld is not supported by mock-acl", (long long)step);
        const int64_t from = !told || (no_begin >> i & 1) != 0 ? 0 : within(part[0][i], x->dims[i]);
        const int64_t to = !told || (no_end >> i & 1) != 0 ? x->dims[i] : within(part[1][i], x->dims[i]);
        if (cut && (from >= x->dims[i] || part[0][i] < -x->dims[i]))
            return mock_named_fail(
                c, ACL_ERROR_OP_INPUT_NOT_MATCH, "begin %lld of dimension %d", (long long)part[0][i], i);
        offset += from * strides[i];
        if (cut) continue;
        dims[rank] = to > from ? (to - from - 1) / step + 1 : 0;
        kept[rank++] = strides[i] * step;
    }
    if (!shaped(c, rank, dims)) return ACLNN_ERR_PARAM_INVALID;
    return copy_from(c, mock_named_view(c, x, rank, dims, kept, offset));
}

/* Stays inside of the elements of x. */
static aclnnStatus as_strided(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0];
    int64_t dims[MOCK_MAX_RANK], strides[MOCK_MAX_RANK], offset = 0, last, reach, count = 1;
    const int rank = mock_named_ints(c, 1, dims, MOCK_MAX_RANK),
              steps = mock_named_ints(c, 2, strides, MOCK_MAX_RANK);
    const bool told = c->input_count > 3 && !c->inputs[3].absent;
    if (told && mock_named_ints(c, 3, &offset, 1) != 1 && c->code == 0)
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "storage_offset is not one number");
    if (c->code == 0 && rank != steps)
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "%d sizes, %d strides", rank, steps);
    if (!shaped(c, rank, dims)) return ACLNN_ERR_PARAM_INVALID;
    for (int i = 0; i < x->rank; i++) count *= x->dims[i];
    bool inside = offset >= 0, empty = false;
    last = offset;
    for (int i = 0; i < rank; i++) {
        empty |= dims[i] == 0;
        inside = inside && strides[i] >= 0 && !__builtin_mul_overflow(dims[i] - 1, strides[i], &reach) &&
                 !__builtin_add_overflow(last, reach, &last);
    }
    if (!inside || (!empty && last >= count))
        return mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "sizes and strides reach outside of the input");
    return copy_from(c, mock_named_view(c, x, rank, dims, strides, offset));
}

static aclnnStatus reshape(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0], *y = &c->outputs[0];
    size_t from, to;
    mock_elements((size_t)x->rank, x->dims, &from);
    mock_elements((size_t)y->rank, y->dims, &to);
    if (from != to)
        return mock_named_fail(c, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "%zu elements become %zu", from, to);
    return copy_from(c, mock_named_view(c, x, y->rank, y->dims, NULL, 0));
}

static aclnnStatus reverse(mock_named_call *c) {
    int64_t dims[MOCK_MAX_RANK];
    const int count = mock_named_ints(c, 1, dims, MOCK_MAX_RANK);
    if (count < 0) return ACLNN_ERR_PARAM_INVALID;
    return MOCK_STEP(c, aclnnFlip, IN(0), mock_named_array(c, dims, count), OUT);
}

static aclnnStatus tile(mock_named_call *c) {
    int64_t times[MOCK_MAX_RANK];
    const int count = mock_named_ints(c, 1, times, MOCK_MAX_RANK);
    if (count < 0) return ACLNN_ERR_PARAM_INVALID;
    return MOCK_STEP(c, aclnnRepeat, IN(0), mock_named_array(c, times, count), OUT);
}

static aclnnStatus tril(mock_named_call *c) {
    return MOCK_STEP(c, aclnnTril, IN(0), mock_named_int_attr(c, "diagonal", 0), OUT);
}

static aclnnStatus triu(mock_named_call *c) {
    return MOCK_STEP(c, aclnnTriu, IN(0), mock_named_int_attr(c, "diagonal", 0), OUT);
}

/* ---- several tensors ---- */

static aclTensorList *all(mock_named_call *c, const mock_named_operand *operands, int count) {
    aclTensor *tensors[MOCK_NAMED_OPERANDS];
    for (int i = 0; i < count; i++) tensors[i] = operands[i].tensor;
    return mock_named_list(c, tensors, count);
}

/* N, where it is told, is the number of inputs. */
static bool counted(mock_named_call *c, const char *name, int have) {
    const int64_t told = mock_named_int_attr(c, name, have);
    if (c->code == 0 && told != have)
        mock_named_fail(
            c, ACL_ERROR_OP_ATTR_NOT_MATCH, "%s is %lld with %d tensors", name, (long long)told, have);
    return c->code == 0;
}

static aclnnStatus concat(mock_named_call *c) {
    mock_named_need_attr(c, "concat_dim");
    if (!counted(c, "N", c->input_count)) return ACLNN_ERR_PARAM_INVALID;
    return MOCK_STEP(
        c, aclnnCat, all(c, c->inputs, c->input_count), mock_named_int_attr(c, "concat_dim", 0), OUT);
}

static aclnnStatus pack(mock_named_call *c) {
    if (!counted(c, "N", c->input_count)) return ACLNN_ERR_PARAM_INVALID;
    return MOCK_STEP(c, aclnnStack, all(c, c->inputs, c->input_count), mock_named_int_attr(c, "axis", 0), OUT);
}

/* As many parts as there are outputs; equal ones without sizes. */
static aclnnStatus split(mock_named_call *c) {
    int64_t sizes[MOCK_NAMED_OPERANDS];
    mock_named_need_attr(c, "split_dim");
    mock_named_need_attr(c, "num_split");
    const int count = mock_named_ints_attr(c, "size_splits", sizes, MOCK_NAMED_OPERANDS);
    const int dim = mock_named_dim(c, mock_named_int_attr(c, "split_dim", 0), c->inputs[0].rank);
    if (!counted(c, "num_split", c->output_count)) return ACLNN_ERR_PARAM_INVALID;
    if (count >= 0 && count != c->output_count)
        return mock_named_fail(
            c, ACL_ERROR_OP_ATTR_NOT_MATCH, "%d size_splits for %d outputs", count, c->output_count);
    for (int i = 0; count < 0 && i < c->output_count; i++) sizes[i] = c->inputs[0].dims[dim] / c->output_count;
    return MOCK_STEP(c, aclnnSplitWithSize, IN(0), mock_named_array(c, sizes, c->output_count), dim,
        all(c, c->outputs, c->output_count));
}

static aclnnStatus split_sizes(mock_named_call *c) {
    mock_named_need_attr(c, "size_splits");
    return split(c);
}

static aclnnStatus gather(mock_named_call *c) {
    int64_t axis = 0;
    if (mock_named_int_attr(c, "batch_dims", 0) != 0)
        mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "batch_dims is not supported by mock-acl");
    if (mock_named_ints(c, 2, &axis, 1) != 1 && c->code == 0)
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "axis is not one number");
    return MOCK_STEP(c, aclnnGatherV2, IN(0), axis, IN(1), OUT);
}

static aclnnStatus gather_elements(mock_named_call *c) {
    return MOCK_STEP(c, aclnnGather, IN(0), mock_named_int_attr(c, "dim", 0), IN(1), OUT);
}

const mock_named_row mock_named_moves[] = {
    {"Identity", 1, 1, 1, copy, mock_named_shape_same},
    {"TensorMove", 1, 1, 1, copy, mock_named_shape_same},
    {"TransData", 1, 1, 1, copy, mock_named_shape_same},
    {"Cast", 1, 1, 1, cast, mock_named_shape_same},
    {"Transpose", 2, 2, 1, transpose, mock_named_shape_permuted},
    {"TransposeD", 1, 1, 1, transpose_d, NULL},
    {"BroadcastTo", 2, 2, 1, broadcast_to, mock_named_shape_of_ints},
    {"Fill", 2, 2, 1, fill, NULL},
    {"ZerosLike", 1, 1, 1, zeros, mock_named_shape_same},
    {"OnesLike", 1, 1, 1, ones, mock_named_shape_same},
    {"Pad", 2, 2, 1, pad, NULL},
    {"PadV3", 2, 3, 1, pad_v3, NULL},
    {"Slice", 3, 3, 1, slice, NULL},
    {"StridedSlice", 4, 4, 1, strided_slice, NULL},
    {"AsStrided", 3, 4, 1, as_strided, mock_named_shape_of_ints},
    {"Reshape", 1, 2, 1, reshape, NULL},
    {"ReverseV2", 2, 2, 1, reverse, mock_named_shape_same},
    {"Tile", 2, 2, 1, tile, NULL},
    {"Tril", 1, 1, 1, tril, mock_named_shape_same},
    {"Triu", 1, 1, 1, triu, mock_named_shape_same},
    {"ConcatD", 1, MOCK_NAMED_OPERANDS, 1, concat, NULL},
    {"Pack", 1, MOCK_NAMED_OPERANDS, 1, pack, NULL},
    {"SplitD", 1, 1, MOCK_NAMED_OPERANDS, split, NULL},
    {"SplitVD", 1, 1, MOCK_NAMED_OPERANDS, split_sizes, NULL},
    {"GatherV2", 3, 3, 1, gather, NULL},
    {"GatherElements", 2, 2, 1, gather_elements, NULL},
    {NULL, 0, 0, 0, NULL, NULL},
};
