"""Operators of elements by name, in NumPy. Makers as in named.py; most compute what the rules of elementwise.py say."""
import math

from device import FLOATS, INTEGERS, np

import elementwise
from elementwise import Rule, clipped, sigmoid
from named import Call, Wanted, blocks_for, given, number, rule, some, tame
from norms import erfc

ALL = FLOATS + INTEGERS
NARROW = ("f32", "f16", "bf16")
OF = {r.name.removeprefix("aclnn"): r for r in elementwise.RULES}


def wanted(case, of, dtype, operands, numbers=(), scale=None, blocks=None):
    """What a rule of elementwise.py gives for the operands."""
    compute = "f32" if of.floats and dtype not in FLOATS else dtype
    want, size = case.reference([*(o.numbers for o in operands), *(float(np.float32(n)) for n in numbers)], compute, of)
    want = np.broadcast_to(want, np.broadcast_shapes(*(np.shape(o.elements) for o in operands)))
    return Wanted(want, "bool" if of.truth else compute, size if scale is None else scale, blocks)


def one(of):
    def make(case, dtype):
        shape = case.shape()
        x = some(case, shape, dtype)
        blocks = blocks_for(case, shape)
        if of.types and blocks is not None:
            x.blocks = case.pick([blocks, None])
        same = of.truth or of.floats  # blocks of another type have another width
        return Call([x], [wanted(case, of, dtype, [x], blocks=None if same else blocks)], opens=True)
    return make


def two(of):
    def make(case, dtype):
        shape = case.shape()
        pair = [some(case, case.broadcast(shape), dtype) for _ in range(2)]
        return Call(pair, [wanted(case, of, dtype, pair)], opens=True)
    return make


def with_attributes(of, *names_and_defaults, attributes=None):
    """NAME(x) with numbers that are attributes; one that is left out has its default (guide)."""
    def make(case, dtype):
        x, told, numbers = some(case, case.shape(), dtype), {}, []
        for (name, default), value in zip(names_and_defaults, case.pick(of.numbers)):
            if default is None or case.random.random() < 0.7:
                told[name] = float(value)
            numbers.append(told.get(name, default))
        return Call([x], [wanted(case, of, dtype, [x], numbers)], told, opens=True)
    return make


def of_rule(reference, **more):
    return Rule("", "named", reference, **more)


def gelu(case, dtype):
    x = some(case, case.shape(), dtype)
    exact = of_rule(lambda v: 0.5 * v * np.vectorize(erfc, otypes=[np.float64])(-v / math.sqrt(2)), scale=np.abs)
    return Call([x], [wanted(case, exact, dtype, [x])], opens=True)


def power_of(case, dtype):
    told = {name: value for name, value in (("base", -1.0), ("scale", 1.0), ("shift", 0.0)) if case.random.random() < 0.5}
    x = some(case, case.shape(), dtype)
    return Call([x], [wanted(case, OF["Exp"], dtype, [x])], told, opens=True)


def logarithm(case, dtype):
    base = case.pick([-1.0, 2.0, 10.0])
    told = {name: value for name, value in (("scale", 1.0), ("shift", 0.0)) if case.random.random() < 0.5}
    if base != -1 or case.random.random() < 0.5:
        told["base"] = base
    x = some(case, case.shape(), dtype)
    of = OF[{-1.0: "Log", 2.0: "Log2", 10.0: "Log10"}[base]]
    return Call([x], [wanted(case, of, dtype, [x])], told, opens=True)


def hard_sigmoid(case, dtype):
    told = {name: value for name, value in (("alpha", 0.16666666), ("beta", 0.5)) if case.random.random() < 0.5}
    x = some(case, case.shape(), dtype)
    return Call([x], [wanted(case, OF["Hardsigmoid"], dtype, [x])], told, opens=True)


def sum_of(sign):
    return of_rule(lambda x, y: x + sign * y)


def axpy(case, dtype):
    shape, alpha = case.shape(), float(np.float32(case.pick([1.0, 0.5, -2.25, 0.1])))
    x, y = (some(case, case.broadcast(shape), dtype) for _ in range(2))
    of = of_rule(lambda a, b: a + alpha * b, scale=lambda a, b: np.abs(a) + np.abs(alpha * b))
    told = {} if alpha == 1 and case.random.random() < 0.5 else {"alpha": alpha}
    return Call([x, y], [wanted(case, of, dtype, [x, y])], told, opens=True)


def axpy_v2(case, dtype):
    """alpha is a tensor on the device. y * alpha is rounded to the type."""
    shape = case.shape()
    x, y = (tame(case, case.broadcast(shape), dtype) for _ in range(2))
    alpha = tame(case, case.pick([(), (1,)]), dtype, -8, 8)
    of = of_rule(lambda a, b, c: a + b * c.reshape(()), scale=lambda a, b, c: np.abs(a) + 2 * np.abs(b * c.reshape(())))
    out = wanted(case, of, dtype, [x, y, alpha])
    out.want = out.want.reshape(np.broadcast_shapes(x.elements.shape, y.elements.shape))
    out.scale = np.broadcast_to(out.scale, out.want.shape) if dtype in FLOATS else None
    return Call([x, y, alpha], [out], opens=True)


def with_value(reference):
    """Adds, Muls: a number in the attribute `value`."""
    def make(case, dtype):
        x, value = some(case, case.shape(), dtype), float(np.float32(case.pick([0.0, 1.0, 0.1, -3.5, 60.0])))
        of = of_rule(lambda v: reference(v, value))
        return Call([x], [wanted(case, of, dtype, [x])], {"value": value}, opens=True)
    return make


def clip(case, dtype):
    """The ends have one element or the shape of x."""
    shape = case.shape()
    x, *ends = some(case, shape, dtype), *(some(case, case.pick([(), (1,), shape]), dtype) for _ in range(2))
    of = of_rule(lambda v, low, high: np.minimum(np.maximum(v, low), high), exact=True)
    if shape == ():
        ends = [some(case, (), dtype) for _ in range(2)]
    return Call([x, *ends], [wanted(case, of, dtype, [x, *ends])], opens=True)


def choose(case, dtype):
    shape = case.shape()
    parts = [some(case, case.broadcast(shape), t) for t in (case.pick(["bool", "u8"]), dtype, dtype)]
    return Call(parts, [wanted(case, OF["SWhere"], dtype, parts)])


def lerp(case, dtype):
    shape = case.shape()
    parts = [some(case, case.broadcast(shape), dtype) for _ in range(3)]
    return Call(parts, [wanted(case, OF["Lerp"], dtype, parts)])


def masked_fill(case, dtype):
    shape = case.shape()
    x, mask = some(case, shape, dtype), some(case, case.broadcast(shape), "bool")
    value = some(case, case.pick([(), (1,)]), dtype)
    want = np.where(mask.numbers != 0, value.numbers.reshape(()), x.numbers)
    return Call([x, mask, value], [Wanted(np.broadcast_to(want, shape), dtype)], opens=True)


def with_constant(of):
    """Addcmul, Addcdiv: the number is a tensor that the host has."""
    def make(case, dtype):
        shape, value = case.shape(), case.pick([1, 2, -3] if dtype in INTEGERS and dtype != "u8" else [1, 2])
        value = case.pick([0.5, -2.0]) if dtype in FLOATS else value
        parts = [some(case, case.broadcast(shape), dtype) for _ in range(3)]
        return Call([*parts, number(case, value, dtype)], [wanted(case, of, dtype, parts, [value])])
    return make


def whole(of):
    """The number of Addcmul of integers is one."""
    return of_rule(lambda x, y, z, v: x + (v if x.dtype == np.float64 else v.astype(np.int64)) * y * z, scale=of.scale)


ONE = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Erfc", "Expm1",
       "FastGelu", "Floor", "IsFinite", "Log1p", "LogicalNot", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Rsqrt",
       "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh", "Trunc", "LogSigmoid"]
NAMED_ONE = {**{name: name for name in ONE}, "Invert": "BitwiseNot", "HardSwish": "Hardswish"}
NAMED_TWO = {"Mul": "Mul", "Div": "Div", "RealDiv": "Div", "Maximum": "Maximum", "Minimum": "Minimum",
             "Pow": "PowTensorTensor", "FloorDiv": "FloorDivide", "FloorMod": "RemainderTensorTensor", "Mod": "FmodTensor",
             "Atan2": "Atan2", "BitwiseAnd": "BitwiseAndTensor", "BitwiseOr": "BitwiseOrTensor",
             "BitwiseXor": "BitwiseXorTensor", "LogicalAnd": "LogicalAnd", "LogicalOr": "LogicalOr", "Equal": "EqTensor",
             "NotEqual": "NeTensor", "Greater": "GtTensor", "GreaterEqual": "GeTensor", "Less": "LtTensor",
             "LessEqual": "LeTensor"}


def like(name, of, maker):
    return rule(name, maker(of), of.types, exact=of.exact)


RULES = [
    *(like(name, OF[of], one) for name, of in NAMED_ONE.items()),
    *(like(name, OF[of], two) for name, of in NAMED_TWO.items()),
    *(rule(name, two(sum_of(sign)), ALL) for name, sign in (("Add", 1), ("AddV2", 1), ("Sub", -1))),
    rule("Relu6", one(of_rule(lambda x: clipped(x, 0, 6))), ALL, exact=True),
    rule("Exp", power_of, ALL), rule("Log", logarithm, ALL), rule("HardSigmoid", hard_sigmoid, FLOATS),
    rule("Gelu", gelu, NARROW), rule("Axpy", axpy, FLOATS), rule("AxpyV2", axpy_v2, FLOATS),
    rule("Adds", with_value(lambda x, v: x + v), FLOATS), rule("Muls", with_value(lambda x, v: x * v), FLOATS),
    rule("LeakyRelu", with_attributes(OF["LeakyRelu"], ("negative_slope", 0.0)), FLOATS),
    rule("Elu", with_attributes(OF["Elu"], ("alpha", 1.0), ("scale", 1.0), ("input_scale", 1.0)), FLOATS),
    rule("Swish", with_attributes(OF["Swish"], ("scale", 1.0)), FLOATS),
    rule("SoftplusV2", with_attributes(OF["Softplus"], ("beta", 1.0), ("threshold", 20.0)), FLOATS),
    rule("ClipByValue", clip, ALL, exact=True), rule("ClipByValueV2", clip, ALL, exact=True),
    rule("Select", choose, ALL), rule("SelectV2", choose, ALL), rule("Lerp", lerp, FLOATS),
    rule("MaskedFill", masked_fill, ALL + ("bool",), exact=True),
    rule("Addcmul", with_constant(whole(OF["Addcmul"])), ALL), rule("Addcdiv", with_constant(OF["Addcdiv"]), FLOATS),
]
