/* Names of operators that look for elements (facts of names, inputs and attributes: guide: operator
 * specifications). Their indices are of the type that the output has; those of aclnn are s64. */
#include "named/call.h"

#define IN(i) (c->inputs[i].tensor)
#define OUT(i) (c->outputs[i].tensor)

static aclTensor *indices(mock_named_call *c, int output) {
    const mock_named_operand *o = &c->outputs[output];
    if (output >= c->output_count || o->absent) {
        if (c->code == 0) mock_named_fail(c, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "output %d is missing", output);
        return NULL;
    }
    return o->desc->dtype == ACL_INT64 ? o->tensor : mock_named_temp(c, ACL_INT64, o->rank, o->dims);
}

static aclnnStatus store(mock_named_call *c, int output, aclnnStatus status, aclTensor *found) {
    const mock_named_operand *o = &c->outputs[output];
    if (status != 0 || found == o->tensor) return status;
    return MOCK_STEP(c, aclnnCast, found, o->desc->dtype, o->tensor);
}

static bool keeps(const mock_named_call *c, int output) {
    return c->outputs[output].rank == c->inputs[0].rank && c->inputs[0].rank != 0;
}

static int64_t one_of(mock_named_call *c, int input) {
    int64_t value = 0;
    if (mock_named_ints(c, input, &value, 1) != 1 && c->code == 0)
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input %d is not one number", input);
    return value;
}

static aclnnStatus arg_max(mock_named_call *c) {
    const int64_t dim = one_of(c, 1);
    aclTensor *found = indices(c, 0);
    return store(c, 0, MOCK_STEP(c, aclnnArgMax, IN(0), dim, keeps(c, 0), found), found);
}

static aclnnStatus arg_min(mock_named_call *c) {
    const int64_t dim = one_of(c, 1);
    aclTensor *found = indices(c, 0);
    return store(c, 0, MOCK_STEP(c, aclnnArgMin, IN(0), dim, keeps(c, 0), found), found);
}

/* Indices come first. */
static aclnnStatus max_with(mock_named_call *c) {
    mock_named_need_attr(c, "dimension");
    const int64_t dim = mock_named_int_attr(c, "dimension", 0);
    aclTensor *found = indices(c, 0);
    const bool keep = mock_named_bool_attr(c, "keep_dims", false);
    if (indices(c, 1) == NULL) return ACLNN_ERR_PARAM_INVALID;
    return store(c, 0, MOCK_STEP(c, aclnnMaxDim, IN(0), dim, keep, OUT(1), found), found);
}

static aclnnStatus min_with(mock_named_call *c) {
    mock_named_need_attr(c, "dimension");
    const int64_t dim = mock_named_int_attr(c, "dimension", 0);
    aclTensor *found = indices(c, 0);
    const bool keep = mock_named_bool_attr(c, "keep_dims", false);
    if (indices(c, 1) == NULL) return ACLNN_ERR_PARAM_INVALID;
    return store(c, 0, MOCK_STEP(c, aclnnMinDim, IN(0), dim, keep, OUT(1), found), found);
}

static aclnnStatus top(mock_named_call *c) {
    const int64_t k = one_of(c, 1), dim = mock_named_int_attr(c, "dim", -1);
    const bool largest = mock_named_bool_attr(c, "largest", true),
               sorted = mock_named_bool_attr(c, "sorted", true);
    aclTensor *found = indices(c, 1);
    return store(c, 1, MOCK_STEP(c, aclnnTopk, IN(0), k, dim, largest, sorted, OUT(0), found), found);
}

static aclnnStatus sort(mock_named_call *c) {
    const int64_t axis = mock_named_int_attr(c, "axis", -1);
    const bool falls = mock_named_bool_attr(c, "descending", false),
               stable = mock_named_bool_attr(c, "stable", false);
    aclTensor *found = indices(c, 1);
    return store(c, 1, MOCK_STEP(c, aclnnSort, IN(0), stable, axis, falls, OUT(0), found), found);
}

const mock_named_row mock_named_picks[] = {
    {"ArgMaxV2", 2, 2, 1, arg_max, NULL},
    {"ArgMin", 2, 2, 1, arg_min, NULL},
    {"ArgMaxWithValue", 1, 1, 2, max_with, NULL},
    {"ArgMinWithValue", 1, 1, 2, min_with, NULL},
    {"TopKV2", 2, 2, 2, top, NULL},
    {"Sort", 1, 1, 2, sort, NULL},
    {NULL, 0, 0, 0, NULL, NULL},
};
