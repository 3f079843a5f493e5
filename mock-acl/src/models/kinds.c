/* Operators of offline models and the two-phase calls behind them (docs/model-format.md lists them; own
 * choice). */
#define _GNU_SOURCE
#include <string.h>
#include "models/aipp.h"
#include "models/file.h"
#include "models/kinds.h"
#include "objects/objects.h"

typedef mock_model_call call;

#define SIMPLE(NAME)                                                                              \
    static aclnnStatus plan_##NAME(call *c) {                                                     \
        return aclnn##NAME##GetWorkspaceSize(c->inputs[0], c->output, c->size, c->executor);      \
    }
SIMPLE(Abs)
SIMPLE(Gelu)
SIMPLE(Rsqrt)
SIMPLE(Sqrt)
SIMPLE(Tanh)

#define PAIR(NAME)                                                                          \
    static aclnnStatus plan_##NAME(call *c) {                                               \
        return aclnn##NAME##GetWorkspaceSize(                                               \
            c->inputs[0], c->inputs[1], c->output, c->size, c->executor);                   \
    }
PAIR(Mul)
PAIR(Div)
PAIR(Maximum)
PAIR(Embedding)

/* A number of the operand's own kind. */
static aclScalar *number(double value) {
    return aclCreateScalar(&value, ACL_DOUBLE);
}

static aclScalar *whole(int64_t value) {
    return aclCreateScalar(&value, ACL_INT64);
}

static bool is_float(aclDataType t) {
    return t == ACL_FLOAT || t == ACL_FLOAT16 || t == ACL_BF16 || t == ACL_DOUBLE;
}

static aclScalar *scalar_attr(const call *c, const char *name, int64_t fallback) {
    if (is_float(c->dtype)) return number(mock_attr_float(c->op, name, (double)mock_attr_int(c->op, name,
        fallback)));
    return whole(mock_attr_int(c->op, name, fallback));
}

static aclnnStatus plan_Add(call *c) {
    aclScalar *alpha = scalar_attr(c, "alpha", 1);
    const aclnnStatus status = aclnnAddGetWorkspaceSize(
        c->inputs[0], c->inputs[1], alpha, c->output, c->size, c->executor);
    aclDestroyScalar(alpha);
    return status;
}

static aclnnStatus plan_Sub(call *c) {
    aclScalar *alpha = scalar_attr(c, "alpha", 1);
    const aclnnStatus status = aclnnSubGetWorkspaceSize(
        c->inputs[0], c->inputs[1], alpha, c->output, c->size, c->executor);
    aclDestroyScalar(alpha);
    return status;
}

static aclnnStatus plan_Adds(call *c) {
    aclScalar *value = scalar_attr(c, "value", 0), *one = whole(1);
    const aclnnStatus status = aclnnAddsGetWorkspaceSize(c->inputs[0], value, one, c->output, c->size,
        c->executor);
    aclDestroyScalar(value);
    aclDestroyScalar(one);
    return status;
}

static aclnnStatus plan_Muls(call *c) {
    aclScalar *value = scalar_attr(c, "value", 1);
    const aclnnStatus status = aclnnMulsGetWorkspaceSize(c->inputs[0], value, c->output, c->size,
        c->executor);
    aclDestroyScalar(value);
    return status;
}

static aclnnStatus plan_ClampMin(call *c) {
    aclScalar *least = scalar_attr(c, "min", 0);
    const aclnnStatus status = aclnnClampMinGetWorkspaceSize(c->inputs[0], least, c->output, c->size,
        c->executor);
    aclDestroyScalar(least);
    return status;
}

static aclnnStatus plan_Matmul(call *c) {
    return aclnnMatmulGetWorkspaceSize(c->inputs[0], c->inputs[1], c->output, 0, c->size, c->executor);
}

static aclnnStatus plan_Cast(call *c) {
    return aclnnCastGetWorkspaceSize(c->inputs[0], c->output_dtype, c->output, c->size, c->executor);
}

static aclnnStatus plan_Copy(call *c) {
    return aclnnInplaceCopyGetWorkspaceSize(c->output, c->inputs[0], c->size, c->executor);
}

static aclnnStatus plan_Softmax(call *c) {
    return aclnnSoftmaxGetWorkspaceSize(
        c->inputs[0], mock_attr_int(c->op, "dim", -1), c->output, c->size, c->executor);
}

static aclnnStatus plan_LayerNorm(call *c) {
    const mock_model_shape *s = c->shapes[1];
    aclIntArray *shape = aclCreateIntArray(s->dims, s->rank);
    aclTensor *offset = c->op->input_count > 2 ? c->inputs[2] : NULL;
    const aclnnStatus status = aclnnLayerNormGetWorkspaceSize(c->inputs[0], shape, c->inputs[1], offset,
        mock_attr_float(c->op, "epsilon", 1e-5), c->output, NULL, NULL, c->size, c->executor);
    aclDestroyIntArray(shape);
    return status;
}

/* No axes: all of them. */
static aclIntArray *axes(const call *c) {
    int64_t values[MOCK_MODEL_RANK];
    size_t n = mock_attr_ints(c->op, "dims", values);
    if (n == 0 || n == SIZE_MAX)
        for (n = 0; n < c->shapes[0]->rank; n++) values[n] = (int64_t)n;
    return aclCreateIntArray(values, n);
}

static aclnnStatus plan_ReduceSum(call *c) {
    aclIntArray *dims = axes(c);
    const aclnnStatus status = aclnnReduceSumGetWorkspaceSize(c->inputs[0], dims,
        mock_attr_int(c->op, "keep_dims", 0) != 0, c->output_dtype, c->output, c->size, c->executor);
    aclDestroyIntArray(dims);
    return status;
}

static aclnnStatus plan_Mean(call *c) {
    aclIntArray *dims = axes(c);
    const aclnnStatus status = aclnnMeanGetWorkspaceSize(c->inputs[0], dims,
        mock_attr_int(c->op, "keep_dims", 0) != 0, c->output_dtype, c->output, c->size, c->executor);
    aclDestroyIntArray(dims);
    return status;
}

static aclnnStatus plan_Permute(call *c) {
    aclIntArray *dims = axes(c);
    const aclnnStatus status =
        aclnnPermuteGetWorkspaceSize(c->inputs[0], dims, c->output, c->size, c->executor);
    aclDestroyIntArray(dims);
    return status;
}

static const mock_model_kind kinds[] = {
    {"Abs", 1, 1, mock_shape_same, plan_Abs, aclnnAbs},
    {"Add", 2, 2, mock_shape_broadcast, plan_Add, aclnnAdd},
    {"Adds", 1, 1, mock_shape_same, plan_Adds, aclnnAdds},
    {"Aipp", 2, 2, mock_shape_aipp, NULL, NULL},
    {"Cast", 1, 1, mock_shape_same, plan_Cast, aclnnCast},
    {"ClampMin", 1, 1, mock_shape_same, plan_ClampMin, aclnnClampMin},
    {"Copy", 1, 1, mock_shape_same, plan_Copy, aclnnInplaceCopy},
    {"Div", 2, 2, mock_shape_broadcast, plan_Div, aclnnDiv},
    {"Embedding", 2, 2, mock_shape_gather, plan_Embedding, aclnnEmbedding},
    {"Gelu", 1, 1, mock_shape_same, plan_Gelu, aclnnGelu},
    {"LayerNorm", 2, 3, mock_shape_norm, plan_LayerNorm, aclnnLayerNorm},
    {"MatMul", 2, 2, mock_shape_matmul, plan_Matmul, aclnnMatmul},
    {"Maximum", 2, 2, mock_shape_broadcast, plan_Maximum, aclnnMaximum},
    {"Mean", 1, 1, mock_shape_reduce, plan_Mean, aclnnMean},
    {"Mul", 2, 2, mock_shape_broadcast, plan_Mul, aclnnMul},
    {"Muls", 1, 1, mock_shape_same, plan_Muls, aclnnMuls},
    {"Permute", 1, 1, mock_shape_permute, plan_Permute, aclnnPermute},
    {"ReduceSum", 1, 1, mock_shape_reduce, plan_ReduceSum, aclnnReduceSum},
    {"Rsqrt", 1, 1, mock_shape_same, plan_Rsqrt, aclnnRsqrt},
    {"Softmax", 1, 1, mock_shape_same, plan_Softmax, aclnnSoftmax},
    {"Sqrt", 1, 1, mock_shape_same, plan_Sqrt, aclnnSqrt},
    {"Sub", 2, 2, mock_shape_broadcast, plan_Sub, aclnnSub},
    {"Tanh", 1, 1, mock_shape_same, plan_Tanh, aclnnTanh},
};

const mock_model_kind *mock_model_kind_find(const char *type, unsigned operands) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].type, type) == 0)
            return operands >= kinds[i].least && operands <= kinds[i].most ? &kinds[i] : NULL;
    return NULL;
}
