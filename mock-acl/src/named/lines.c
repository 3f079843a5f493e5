/* Names of operators of lines: softmax, reductions, norms (facts of names, inputs and attributes: guide:
 * operator specifications). */
#include <string.h>

#include "named/call.h"

#define IN(i) (c->inputs[i].tensor)
#define OUT (c->outputs[0].tensor)

/* One dimension, the last one where the attribute is missing. */
static int64_t one_axis(mock_named_call *c) {
    int64_t axis = -1;
    const int count = mock_named_ints_attr(c, "axes", &axis, 1);
    if (c->code == 0 && count == 0) mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute axes is empty");
    return axis;
}

static aclnnStatus softmax(mock_named_call *c) { return MOCK_STEP(c, aclnnSoftmax, IN(0), one_axis(c), OUT); }
static aclnnStatus log_softmax(mock_named_call *c) {
    return MOCK_STEP(c, aclnnLogSoftmax, IN(0), one_axis(c), OUT);
}

/* What the mask hides is -10000; fixed_triu_mask hides above the diagonal instead (own tests of torch_npu). In
 * f32, rounded once (own choice). */
static aclnnStatus masked_softmax(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0];
    const bool fixed = mock_named_bool_attr(c, "fixed_triu_mask", false);
    const double scale = mock_named_float_attr(c, "scale", 1);
    aclTensor *scaled = mock_named_temp(c, ACL_FLOAT, x->rank, x->dims), *mask = IN(1);
    aclnnStatus status = MOCK_STEP(c, aclnnCast, IN(0), ACL_FLOAT, scaled);
    if (status == 0) status = MOCK_STEP(c, aclnnInplaceMuls, scaled, mock_named_float(c, scale));
    if (status == 0 && fixed) {
        aclTensor *all = mock_named_temp(c, ACL_BOOL, x->rank, x->dims);
        mask = mock_named_temp(c, ACL_BOOL, x->rank, x->dims);
        status = MOCK_STEP(c, aclnnInplaceOne, all);
        if (status == 0) status = MOCK_STEP(c, aclnnTriu, all, 1, mask);
    }
    if (status == 0)
        status = MOCK_STEP(c, aclnnInplaceMaskedFillScalar, scaled, mask, mock_named_float(c, -10000));
    return status != 0 ? status : MOCK_STEP(c, aclnnSoftmax, scaled, -1, OUT);
}

/* ---- reductions ---- */

/* Of the second input, or of the attribute of the forms that end with D; all dimensions where there are none.
 */
static aclIntArray *axes_of(mock_named_call *c) {
    int64_t axes[MOCK_MAX_RANK];
    int count = c->input_count > 1 ? mock_named_ints(c, 1, axes, MOCK_MAX_RANK)
                                   : mock_named_ints_attr(c, "axes", axes, MOCK_MAX_RANK);
    if (count < 0 && c->code == 0) mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute axes is missing");
    if (count == 0)
        for (count = 0; count < c->inputs[0].rank; count++) axes[count] = count;
    return mock_named_array(c, axes, count);
}

#define KEEP mock_named_bool_attr(c, "keep_dims", false)

static aclnnStatus sum(mock_named_call *c) {
    return MOCK_STEP(c, aclnnReduceSum, IN(0), axes_of(c), KEEP, c->outputs[0].desc->dtype, OUT);
}

static aclnnStatus mean(mock_named_call *c) {
    return MOCK_STEP(c, aclnnMean, IN(0), axes_of(c), KEEP, c->outputs[0].desc->dtype, OUT);
}

static aclnnStatus largest(mock_named_call *c) { return MOCK_STEP(c, aclnnAmax, IN(0), axes_of(c), KEEP, OUT); }
static aclnnStatus smallest(mock_named_call *c) {
    return MOCK_STEP(c, aclnnAmin, IN(0), axes_of(c), KEEP, OUT);
}
static aclnnStatus any(mock_named_call *c) { return MOCK_STEP(c, aclnnAny, IN(0), axes_of(c), KEEP, OUT); }
static aclnnStatus all(mock_named_call *c) { return MOCK_STEP(c, aclnnAll, IN(0), axes_of(c), KEEP, OUT); }

/* The one element of an output that keeps its dimensions. */
static aclTensor *only_element(mock_named_call *c) {
    const mock_named_operand *y = &c->outputs[0];
    const int rank = KEEP ? c->inputs[0].rank : 0;
    bool good = y->rank == rank;
    for (int i = 0; i < y->rank; i++) good &= y->dims[i] == 1;
    if (!good && c->code == 0)
        mock_named_fail(
            c, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "the output does not have the shape that the inputs give");
    return rank == 0 ? OUT : mock_named_view(c, y, 0, NULL, NULL, 0);
}

static aclnnStatus product(mock_named_call *c) {
    const aclDataType type = c->outputs[0].desc->dtype;
    const mock_array *axes = mock_object_get(MOCK_OBJECT_ARRAY, axes_of(c));
    if (axes == NULL) return ACLNN_ERR_PARAM_INVALID;
    if (axes->size == 1)
        return MOCK_STEP(c, aclnnProdDim, IN(0), *(const int64_t *)axes->values, KEEP, type, OUT);
    if ((int)axes->size == c->inputs[0].rank) return MOCK_STEP(c, aclnnProd, IN(0), type, only_element(c));
    return mock_named_fail(
        c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "axes other than one or all are not supported by mock-acl");
}

static aclnnStatus running_sum(mock_named_call *c) {
    int64_t axis = 0;
    if (mock_named_bool_attr(c, "exclusive", false) || mock_named_bool_attr(c, "reverse", false))
        mock_named_fail(
            c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "exclusive and reverse are not supported by mock-acl");
    if (mock_named_ints(c, 1, &axis, 1) != 1 && c->code == 0)
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "axis is not one number");
    return MOCK_STEP(c, aclnnCumsum, IN(0), axis, c->outputs[0].desc->dtype, OUT);
}

/* x, gamma, beta; y, and mean and variance, which are left out. */
static aclnnStatus layer_norm(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0], *gamma = &c->inputs[1];
    const int from = mock_named_dim(c, mock_named_int_attr(c, "begin_norm_axis", 0), x->rank);
    const double epsilon = mock_named_float_attr(c, "epsilon", 1e-7);
    if (c->code != 0) return ACLNN_ERR_PARAM_INVALID;
    if (c->output_count > 1)
        return mock_named_fail(
            c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "mean and variance are not supported by mock-acl");
    if (gamma->rank != x->rank - from)
        return mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH,
            "gamma has %d dimensions, begin_norm_axis leaves %d", gamma->rank, x->rank - from);
    return MOCK_STEP(c, aclnnLayerNorm, IN(0), mock_named_array(c, x->dims + from, x->rank - from), IN(1),
        IN(2), epsilon, OUT, NULL, NULL);
}

#define REDUCE(NAME, PLAN) \
    {NAME, 2, 2, 1, PLAN, NULL}, { NAME "D", 1, 1, 1, PLAN, NULL }

const mock_named_row mock_named_lines[] = {
    {"SoftmaxV2", 1, 1, 1, softmax, mock_named_shape_same},
    {"LogSoftmaxV2", 1, 1, 1, log_softmax, mock_named_shape_same},
    {"ScaledMaskedSoftmax", 2, 2, 1, masked_softmax, mock_named_shape_same},
    REDUCE("ReduceSum", sum),
    REDUCE("ReduceMean", mean),
    REDUCE("ReduceMax", largest),
    REDUCE("ReduceMin", smallest),
    REDUCE("ReduceProd", product),
    REDUCE("ReduceAny", any),
    REDUCE("ReduceAll", all),
    {"Cumsum", 2, 2, 1, running_sum, mock_named_shape_same},
    {"LayerNorm", 3, 3, 3, layer_norm, mock_named_shape_same},
    {NULL, 0, 0, 0, NULL, NULL},
};
