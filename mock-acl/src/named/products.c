/* Names of products (facts of names, inputs and attributes: guide: operator specifications). Factors in
 * FRACTAL_NZ are dense by then. */
#include <string.h>

#include "named/call.h"

#define IN(i) (c->inputs[i].tensor)
#define OUT (c->outputs[0].tensor)

/* The last two dimensions change places. */
static aclTensor *turned(mock_named_call *c, int index, const char *attr) {
    const mock_named_operand *o = &c->inputs[index];
    int64_t dims[MOCK_MAX_RANK], strides[MOCK_MAX_RANK], step = 1;
    if (!mock_named_bool_attr(c, attr, false)) return o->tensor;
    if (o->rank < 2) {
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input %d has %d dimensions", index, o->rank);
        return NULL;
    }
    const int m = o->rank - 2, n = o->rank - 1;
    for (int i = o->rank; i-- > 0; step *= o->dims[i]) {
        const int to = i == m ? n : i == n ? m : i;
        dims[to] = o->dims[i];
        strides[to] = step;
    }
    return mock_named_view(c, o, o->rank, dims, strides, 0);
}

static bool given(const mock_named_call *c, int index) {
    return index < c->input_count && !c->inputs[index].absent;
}

static bool only(mock_named_call *c, int index, const char *name) {
    if (given(c, index))
        mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s is not supported by mock-acl", name);
    return c->code == 0;
}

static aclnnStatus matmul(mock_named_call *c) {
    aclTensor *x = turned(c, 0, "transpose_x1"), *y = turned(c, 1, "transpose_x2");
    if (!only(c, 3, "offset_w")) return ACLNN_ERR_PARAM_INVALID;
    if (!given(c, 2)) return MOCK_STEP(c, aclnnMatmul, x, y, OUT, 0);
    aclScalar *one = mock_named_whole(c, 1);
    return MOCK_STEP(c, aclnnAddmm, IN(2), x, y, one, one, OUT, 0);
}

static aclnnStatus batch_matmul(mock_named_call *c) {
    aclTensor *x = turned(c, 0, "adj_x1"), *y = turned(c, 1, "adj_x2");
    if (!only(c, 2, "bias") || !only(c, 3, "offset_w")) return ACLNN_ERR_PARAM_INVALID;
    return MOCK_STEP(c, aclnnMatmul, x, y, OUT, 0);
}

/* Four numbers in the order N, C, H, W; ones where the attribute is missing. */
static bool four(mock_named_call *c, const char *name, int64_t *values) {
    const int count = mock_named_ints_attr(c, name, values, 4);
    if (count < 0)
        for (int i = 0; i < 4; i++) values[i] = 1;
    if (c->code == 0 && count >= 0 && (count != 4 || values[0] != 1 || values[1] != 1))
        mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s is not 1, 1 and two numbers", name);
    return c->code == 0;
}

/* In NCHW, which is not what it is without the attribute, with the same padding on both sides. */
static aclnnStatus conv(mock_named_call *c) {
    int64_t strides[4], dilations[4], pads[4] = {0};
    mock_named_need_attr(c, "strides");
    const char *format = mock_named_text_attr(c, "data_format");
    if (!four(c, "strides", strides) || !four(c, "dilations", dilations) || !only(c, 3, "offset_w"))
        return ACLNN_ERR_PARAM_INVALID;
    if (mock_named_ints_attr(c, "pads", pads, 4) != 4 && c->code == 0)
        mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute pads is not four numbers");
    if (c->code == 0 && (pads[0] != pads[1] || pads[2] != pads[3]))
        mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "pads that differ are not supported by mock-acl");
    if (c->code == 0 && (format == NULL || strcmp(format, "NCHW") != 0))
        mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "data_format %s is not supported by mock-acl",
            format == NULL ? "NHWC" : format);
    const int64_t padding[] = {pads[0], pads[2]}, none[] = {0, 0};
    return MOCK_STEP(c, aclnnConvolution, IN(0), IN(1), given(c, 2) ? IN(2) : NULL,
        mock_named_array(c, strides + 2, 2), mock_named_array(c, padding, 2),
        mock_named_array(c, dilations + 2, 2), false, mock_named_array(c, none, 2),
        mock_named_int_attr(c, "groups", 1), OUT, 0);
}

const mock_named_row mock_named_products[] = {
    {"MatMul", 2, 3, 1, matmul, mock_named_shape_product},
    {"MatMulV2", 2, 4, 1, matmul, mock_named_shape_product},
    {"BatchMatMul", 2, 2, 1, batch_matmul, mock_named_shape_product},
    {"BatchMatMulV2", 2, 4, 1, batch_matmul, mock_named_shape_product},
    {"Conv2D", 2, 4, 1, conv, NULL},
    {NULL, 0, 0, 0, NULL, NULL},
};
