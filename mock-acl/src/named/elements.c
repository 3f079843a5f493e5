/* Names of operators of elements (facts of names, inputs and attributes: guide: operator specifications). */
#include "named/call.h"

#define IN(i) (c->inputs[i].tensor)
#define OUT (c->outputs[0].tensor)

#define UNARY(NAME) \
    static aclnnStatus plan_##NAME(mock_named_call *c) { return MOCK_STEP(c, aclnn##NAME, IN(0), OUT); }
#define BINARY(NAME) \
    static aclnnStatus plan_##NAME(mock_named_call *c) { return MOCK_STEP(c, aclnn##NAME, IN(0), IN(1), OUT); }

UNARY(Abs)
UNARY(Acos) UNARY(Acosh) UNARY(Asin) UNARY(Asinh) UNARY(Atan) UNARY(Atanh) UNARY(BitwiseNot) UNARY(Ceil)
    UNARY(Cos) UNARY(Cosh) UNARY(Erf) UNARY(Erfc) UNARY(Expm1) UNARY(FastGelu) UNARY(Floor) UNARY(Gelu)
        UNARY(Hardswish) UNARY(IsFinite) UNARY(Log1p) UNARY(LogicalNot) UNARY(Mish) UNARY(Neg) UNARY(Reciprocal)
            UNARY(Relu) UNARY(Round) UNARY(Rsqrt) UNARY(Selu) UNARY(Sigmoid) UNARY(Sign) UNARY(Sin) UNARY(Sinh)
                UNARY(Sqrt) UNARY(Square) UNARY(Tan) UNARY(Tanh) UNARY(Trunc) UNARY(Exp) UNARY(Log) UNARY(Log2)
                    UNARY(Log10) UNARY(LogSigmoid) UNARY(Hardsigmoid) BINARY(Atan2) BINARY(BitwiseAndTensor)
                        BINARY(BitwiseOrTensor) BINARY(BitwiseXorTensor) BINARY(Div) BINARY(EqTensor)
                            BINARY(FloorDivide) BINARY(FmodTensor) BINARY(GeTensor) BINARY(GtTensor)
                                BINARY(LeTensor) BINARY(LogicalAnd) BINARY(LogicalOr) BINARY(LtTensor)
                                    BINARY(Maximum) BINARY(Minimum) BINARY(Mul) BINARY(NeTensor)
                                        BINARY(PowTensorTensor) BINARY(RemainderTensorTensor)

    /* An attribute that the operator of aclnn has no place for. */
    static bool is_default(mock_named_call *c, const char *name, double value) {
    const double given = mock_named_float_attr(c, name, value);
    if (c->code == 0 && (float)given != (float)value)
        mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "attribute %s of %g is not supported by mock-acl",
            name, given);
    return c->code == 0;
}

/* base -1 is e. */
static aclnnStatus power_of(mock_named_call *c, aclnnStatus (*plan)(mock_named_call *)) {
    const bool plain = is_default(c, "base", -1) && is_default(c, "scale", 1) && is_default(c, "shift", 0);
    return plain ? plan(c) : ACLNN_ERR_PARAM_INVALID;
}

static aclnnStatus exponential(mock_named_call *c) { return power_of(c, plan_Exp); }

static aclnnStatus logarithm(mock_named_call *c) {
    const double base = mock_named_float_attr(c, "base", -1);
    if (base != 2 && base != 10) return power_of(c, plan_Log);
    if (!is_default(c, "scale", 1) || !is_default(c, "shift", 0)) return ACLNN_ERR_PARAM_INVALID;
    return base == 2 ? plan_Log2(c) : plan_Log10(c);
}

static aclnnStatus hard_sigmoid(mock_named_call *c) {
    const bool plain = is_default(c, "alpha", 0.16666666) && is_default(c, "beta", 0.5);
    return plain ? plan_Hardsigmoid(c) : ACLNN_ERR_PARAM_INVALID;
}

static aclnnStatus sum_with(mock_named_call *c, double alpha) {
    return MOCK_STEP(c, aclnnAdd, IN(0), IN(1), mock_named_float(c, alpha), OUT);
}

static aclnnStatus add(mock_named_call *c) {
    return MOCK_STEP(c, aclnnAdd, IN(0), IN(1), mock_named_whole(c, 1), OUT);
}

static aclnnStatus subtract(mock_named_call *c) {
    return MOCK_STEP(c, aclnnSub, IN(0), IN(1), mock_named_whole(c, 1), OUT);
}

static aclnnStatus axpy(mock_named_call *c) { return sum_with(c, mock_named_float_attr(c, "alpha", 1)); }

/* alpha is a tensor of one element, whatever its rank. */
static aclnnStatus axpy_v2(mock_named_call *c) {
    const mock_named_operand *y = &c->inputs[1], *alpha = &c->inputs[2];
    for (int i = 0; i < alpha->rank; i++)
        if (alpha->dims[i] != 1)
            return mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input 2 is not one number");
    aclTensor *part = mock_named_temp(c, y->desc->dtype, y->rank, y->dims);
    aclTensor *factor = mock_named_view(c, alpha, 0, NULL, NULL, 0);
    const aclnnStatus status = MOCK_STEP(c, aclnnMul, IN(1), factor, part);
    return status != 0 ? status : MOCK_STEP(c, aclnnAdd, IN(0), part, mock_named_whole(c, 1), OUT);
}

static aclnnStatus adds(mock_named_call *c) {
    mock_named_need_attr(c, "value");
    return MOCK_STEP(c, aclnnAdds, IN(0), mock_named_float(c, mock_named_float_attr(c, "value", 0)),
        mock_named_whole(c, 1), OUT);
}

static aclnnStatus muls(mock_named_call *c) {
    mock_named_need_attr(c, "value");
    return MOCK_STEP(c, aclnnMuls, IN(0), mock_named_float(c, mock_named_float_attr(c, "value", 1)), OUT);
}

static aclnnStatus leaky_relu(mock_named_call *c) {
    return MOCK_STEP(
        c, aclnnLeakyRelu, IN(0), mock_named_float(c, mock_named_float_attr(c, "negative_slope", 0)), OUT);
}

static aclnnStatus relu6(mock_named_call *c) {
    return MOCK_STEP(c, aclnnClamp, IN(0), mock_named_whole(c, 0), mock_named_whole(c, 6), OUT);
}

static aclnnStatus swish(mock_named_call *c) {
    return MOCK_STEP(c, aclnnSwish, IN(0), mock_named_float(c, mock_named_float_attr(c, "scale", 1)), OUT);
}

static aclnnStatus elu(mock_named_call *c) {
    return MOCK_STEP(c, aclnnElu, IN(0), mock_named_float(c, mock_named_float_attr(c, "alpha", 1)),
        mock_named_float(c, mock_named_float_attr(c, "scale", 1)),
        mock_named_float(c, mock_named_float_attr(c, "input_scale", 1)), OUT);
}

static aclnnStatus softplus(mock_named_call *c) {
    return MOCK_STEP(c, aclnnSoftplus, IN(0), mock_named_float(c, mock_named_float_attr(c, "beta", 1)),
        mock_named_float(c, mock_named_float_attr(c, "threshold", 20)), OUT);
}

/* x2 and x3 are tensors of one element or of the shape of x. */
static aclnnStatus clip(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0];
    aclTensor *raised = mock_named_temp(c, x->desc->dtype, x->rank, x->dims);
    const aclnnStatus status = MOCK_STEP(c, aclnnMaximum, IN(0), IN(1), raised);
    return status != 0 ? status : MOCK_STEP(c, aclnnMinimum, raised, IN(2), OUT);
}

static aclnnStatus choose(mock_named_call *c) { return MOCK_STEP(c, aclnnSWhere, IN(0), IN(1), IN(2), OUT); }
static aclnnStatus lerp(mock_named_call *c) { return MOCK_STEP(c, aclnnLerp, IN(0), IN(1), IN(2), OUT); }

/* The output stays as it is when mask or value are refused. */
static aclnnStatus masked_fill(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0];
    aclTensor *filled = mock_named_temp(c, x->desc->dtype, x->rank, x->dims);
    aclnnStatus status = MOCK_STEP(c, aclnnInplaceCopy, filled, IN(0));
    if (status == 0) status = MOCK_STEP(c, aclnnInplaceMaskedFillTensor, filled, IN(1), IN(2));
    return status != 0 ? status : MOCK_STEP(c, aclnnInplaceCopy, OUT, filled);
}

static aclnnStatus addcmul(mock_named_call *c) {
    return MOCK_STEP(c, aclnnAddcmul, IN(0), IN(1), IN(2), mock_named_float(c, mock_named_number(c, 3)), OUT);
}

static aclnnStatus addcdiv(mock_named_call *c) {
    return MOCK_STEP(c, aclnnAddcdiv, IN(0), IN(1), IN(2), mock_named_float(c, mock_named_number(c, 3)), OUT);
}

#define ONE(NAME, PLAN) {NAME, 1, 1, 1, PLAN, mock_named_shape_same}
#define TWO(NAME, PLAN) {NAME, 2, 2, 1, PLAN, mock_named_shape_both}

const mock_named_row mock_named_elements[] = {
    ONE("Abs", plan_Abs),
    ONE("Acos", plan_Acos),
    ONE("Acosh", plan_Acosh),
    ONE("Asin", plan_Asin),
    ONE("Asinh", plan_Asinh),
    ONE("Atan", plan_Atan),
    ONE("Atanh", plan_Atanh),
    ONE("Invert", plan_BitwiseNot),
    ONE("Ceil", plan_Ceil),
    ONE("Cos", plan_Cos),
    ONE("Cosh", plan_Cosh),
    ONE("Erf", plan_Erf),
    ONE("Erfc", plan_Erfc),
    ONE("Exp", exponential),
    ONE("Expm1", plan_Expm1),
    ONE("FastGelu", plan_FastGelu),
    ONE("Floor", plan_Floor),
    ONE("Gelu", plan_Gelu),
    ONE("HardSwish", plan_Hardswish),
    ONE("HardSigmoid", hard_sigmoid),
    ONE("IsFinite", plan_IsFinite),
    ONE("Log", logarithm),
    ONE("Log1p", plan_Log1p),
    ONE("LogicalNot", plan_LogicalNot),
    ONE("Mish", plan_Mish),
    ONE("Neg", plan_Neg),
    ONE("Reciprocal", plan_Reciprocal),
    ONE("Relu", plan_Relu),
    ONE("Relu6", relu6),
    ONE("Round", plan_Round),
    ONE("Rsqrt", plan_Rsqrt),
    ONE("Selu", plan_Selu),
    ONE("Sigmoid", plan_Sigmoid),
    ONE("Sign", plan_Sign),
    ONE("Sin", plan_Sin),
    ONE("Sinh", plan_Sinh),
    ONE("Sqrt", plan_Sqrt),
    ONE("Square", plan_Square),
    ONE("Tan", plan_Tan),
    ONE("Tanh", plan_Tanh),
    ONE("Trunc", plan_Trunc),
    ONE("Adds", adds),
    ONE("Muls", muls),
    ONE("LeakyRelu", leaky_relu),
    ONE("Swish", swish),
    ONE("Elu", elu),
    ONE("SoftplusV2", softplus),
    TWO("Add", add),
    TWO("AddV2", add),
    TWO("Sub", subtract),
    TWO("Mul", plan_Mul),
    TWO("Div", plan_Div),
    TWO("RealDiv", plan_Div),
    TWO("Axpy", axpy),
    TWO("Maximum", plan_Maximum),
    TWO("Minimum", plan_Minimum),
    TWO("Pow", plan_PowTensorTensor),
    TWO("FloorDiv", plan_FloorDivide),
    TWO("FloorMod", plan_RemainderTensorTensor),
    TWO("Mod", plan_FmodTensor),
    TWO("Atan2", plan_Atan2),
    TWO("BitwiseAnd", plan_BitwiseAndTensor),
    TWO("BitwiseOr", plan_BitwiseOrTensor),
    TWO("BitwiseXor", plan_BitwiseXorTensor),
    TWO("LogicalAnd", plan_LogicalAnd),
    TWO("LogicalOr", plan_LogicalOr),
    TWO("Equal", plan_EqTensor),
    TWO("NotEqual", plan_NeTensor),
    TWO("Greater", plan_GtTensor),
    TWO("GreaterEqual", plan_GeTensor),
    TWO("Less", plan_LtTensor),
    TWO("LessEqual", plan_LeTensor),
    ONE("LogSigmoid", plan_LogSigmoid),
    {"AxpyV2", 3, 3, 1, axpy_v2, mock_named_shape_both},
    {"ClipByValue", 3, 3, 1, clip, mock_named_shape_same},
    {"ClipByValueV2", 3, 3, 1, clip, mock_named_shape_same},
    {"Select", 3, 3, 1, choose, NULL},
    {"SelectV2", 3, 3, 1, choose, NULL},
    {"Lerp", 3, 3, 1, lerp, NULL},
    {"MaskedFill", 3, 3, 1, masked_fill, mock_named_shape_same},
    {"Addcmul", 4, 4, 1, addcmul, NULL},
    {"Addcdiv", 4, 4, 1, addcdiv, NULL},
    {NULL, 0, 0, 0, NULL, NULL},
};
