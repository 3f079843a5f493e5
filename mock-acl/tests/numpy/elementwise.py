"""Operators of elements: what they compute, in NumPy.

A reference takes float64 arrays for floats and int64 arrays for integers and bool, already converted to the type that
is computed in, and gives the same or booleans. `scale` of a Rule gives the size that rounding errors are relative to,
where that is not the result itself.
"""
from dataclasses import dataclass
from typing import Callable, Optional

from device import FLOATS, INTEGERS, np

ALL = FLOATS + INTEGERS
EVERY = ALL + ("bool",)
ORDER = ["bool", "u8", "s8", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"]


def promote(a, b):
    """The table of the guide: a float beats an integer; f16 with bf16 gives f32, s8 with u8 gives s16."""
    if a == b:
        return a
    if {a, b} == {"f16", "bf16"}:
        return "f32"
    if {a, b} == {"s8", "u8"}:
        return "s16"
    return max(a, b, key=ORDER.index)


def promote_scalar(tensor, scalar):
    def kind(dtype):
        return 2 if dtype in FLOATS else int(dtype != "bool")
    if kind(scalar) <= kind(tensor):
        return tensor
    return "f32" if kind(scalar) == 2 else scalar


@dataclass
class Rule:
    name: str
    form: str  # unary, binary, scalar, scalar_first, numbers, ternary, mask: how the parameters come
    reference: Callable
    types: tuple = FLOATS
    inplace: Optional[str] = None
    truth: bool = False  # gives 0 or 1
    floats: bool = False  # integers become f32
    scale: Optional[Callable] = None
    numbers: tuple = ()  # choices of scalars for the form "numbers"
    exact: bool = False  # computed in the type itself, no rounding to allow for


def wrap(values):
    return values  # int64 wraps by itself


def erf(x):
    from math import erf as one
    return np.vectorize(one, otypes=[np.float64])(x)


def erfc(x):
    from math import erfc as one
    return np.vectorize(one, otypes=[np.float64])(x)


def sigmoid(x):
    return np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))


def unary(name, reference, inplace=True, **more):
    return Rule("aclnn" + name, "unary", reference, inplace="aclnnInplace" + name if inplace else None, **more)


UNARY = [
    *(unary(name, getattr(np, name.lower()), floats=True, types=ALL) for name in
      ("Exp", "Exp2", "Expm1", "Log", "Log10", "Log1p", "Log2", "Sin", "Cos", "Tan", "Sinh", "Cosh")),
    *(unary(name, getattr(np, "arc" + name.lower()[1:]), floats=True, types=ALL) for name in
      ("Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh")),
    unary("Erf", erf, floats=True, types=ALL), unary("Erfc", erfc, floats=True, types=ALL),
    unary("Reciprocal", lambda x: 1 / x, floats=True, types=ALL),
    unary("Sqrt", np.sqrt, floats=True), unary("Rsqrt", lambda x: 1 / np.sqrt(x)),
    unary("Tanh", np.tanh), unary("Abs", np.abs, types=ALL, inplace=False),
    unary("Floor", np.floor, types=FLOATS, exact=True), unary("Ceil", np.ceil, exact=True),
    unary("Round", np.rint, exact=True), unary("Trunc", np.trunc, exact=True),
    unary("Frac", lambda x: np.where(np.isinf(x), np.nan, x - np.trunc(x))),
    unary("Neg", lambda x: wrap(-x), types=ALL), unary("Square", lambda x: wrap(x * x), types=ALL, inplace=False),
    unary("Sign", np.sign, types=ALL, inplace=False),
]

ACTIVATIONS = [
    unary("Relu", lambda x: np.where(x < 0, 0, x), types=ALL),
    unary("Sigmoid", sigmoid), unary("Silu", lambda x: x * sigmoid(x), inplace=False),
    unary("Hardsigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1), scale=lambda x: np.maximum(np.abs(x) / 6, 0.5)),
    unary("Hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, scale=lambda x: np.abs(x) * (np.abs(x) + 3) / 6),
    unary("Selu", lambda x: 1.0507009873554804934193349852946 *
          np.where(x > 0, x, 1.6732632423543772848170429916717 * np.expm1(x))),
    unary("LogSigmoid", lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), inplace=False),
    unary("Mish", lambda x: x * np.tanh(np.logaddexp(0, x))),
    unary("FastGelu", lambda x: x * sigmoid(1.702 * x), inplace=False, scale=lambda x: np.abs(x)),
]

TESTS = [
    unary("LogicalNot", lambda x: x == 0, types=EVERY, truth=True),
    unary("IsFinite", np.isfinite, types=ALL, truth=True, inplace=False),
    unary("IsInf", np.isinf, truth=True, inplace=False),
    unary("IsPosInf", lambda x: x == np.inf, types=ALL, truth=True, inplace=False),
    unary("IsNegInf", lambda x: x == -np.inf, types=ALL, truth=True, inplace=False),
    unary("Signbit", lambda x: np.signbit(x) if x.dtype == np.float64 else x < 0, types=ALL, truth=True,
          inplace=False),
]


def with_numbers(name, reference, numbers, inplace=True, **more):
    return Rule("aclnn" + name, "numbers", reference, numbers=numbers,
                inplace="aclnnInplace" + name if inplace else None, **more)


def clipped(x, low, high):
    return np.where(x < low, low, np.where(x > high, high, x))


NUMBERS = [
    with_numbers("Elu", lambda x, a, s, i: np.where(x > 0, s * x, s * a * np.expm1(i * x)),
                 ((1.0, 1.0, 1.0), (0.5, 2.0, 1.5))),
    with_numbers("Celu", lambda x, a: np.where(x > 0, x, a * np.expm1(x / a)), ((1.0,), (0.25,))),
    with_numbers("LeakyRelu", lambda x, s: np.where(x > 0, x, s * x), ((0.01,), (0.5,))),
    with_numbers("Softplus", lambda x, b, t: np.where(b * x > t, x, np.log1p(np.exp(np.minimum(b * x, 700))) / b),
                 ((1.0, 20.0), (2.0, 4.0)), inplace=False),
    with_numbers("Hardtanh", clipped, ((-1.0, 1.0), (0.0, 6.0)), types=ALL),
    with_numbers("Threshold", lambda x, t, v: np.where(x <= t, v, x), ((0.0, 2.0), (1.0, -1.0)), types=ALL),
    with_numbers("Hardshrink", lambda x, s: np.where((x >= -s) & (x <= s), 0, x), ((0.5,), (0.0,)), inplace=False),
    with_numbers("Softshrink",
                 lambda x, s: np.where(x > s, x - s, np.where(x < -s, x + s, np.where(np.isnan(x), x, 0))),
                 ((0.5,), (1.0,)), inplace=False, scale=lambda x, s: np.abs(x) + s),
    with_numbers("Swish", lambda x, s: x * sigmoid(s * x), ((1.0,), (2.0,)), inplace=False),
]


def floor_divide(x, y):
    if x.dtype != np.int64:
        return np.floor_divide(x, y)
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, 0, np.floor_divide(x, safe))


def remainder(x, y):
    if x.dtype != np.int64:
        return np.remainder(x, y)
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, 0, np.remainder(x, safe))


def fmod(x, y):
    if x.dtype != np.int64:
        return np.fmod(x, y)
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, 0, np.fmod(x, safe))


def power(x, y):
    if x.dtype != np.int64:
        return np.power(x, y)
    whole = np.where(y < 0, 0, y)
    with np.errstate(all="ignore"):
        result = np.power(x, whole)
    odd = np.where(y % 2 == 0, 1, -1)
    return np.where(y < 0, np.where(x == 1, 1, np.where(x == -1, odd, 0)), result)


def binary(name, reference, inplace=True, **more):
    return Rule("aclnn" + name, "binary", reference, inplace="aclnnInplace" + name if inplace else None, **more)


def scalar(name, reference, inplace=True, **more):
    return Rule("aclnn" + name, "scalar", reference, inplace="aclnnInplace" + name if inplace else None, **more)


COMPARISONS = {"Eq": np.equal, "Ne": np.not_equal, "Gt": np.greater, "Ge": np.greater_equal, "Lt": np.less,
               "Le": np.less_equal}

BINARY = [
    binary("Mul", lambda x, y: wrap(x * y), types=ALL), scalar("Muls", lambda x, y: wrap(x * y), types=ALL),
    binary("Div", lambda x, y: x / y, types=ALL, floats=True),
    scalar("Divs", lambda x, y: x / y, types=ALL, floats=True),
    binary("Maximum", np.maximum, types=ALL, inplace=False), binary("Minimum", np.minimum, types=ALL, inplace=False),
    binary("ClampMinTensor", np.maximum, types=ALL), binary("ClampMaxTensor", np.minimum, types=ALL),
    scalar("ClampMin", np.maximum, types=ALL, inplace=False), scalar("ClampMax", np.minimum, types=ALL),
    binary("PowTensorTensor", power, types=ALL), scalar("PowTensorScalar", power, types=ALL),
    Rule("aclnnPowScalarTensor", "scalar_first", power, types=ALL),
    binary("FloorDivide", floor_divide, types=ALL, exact=True),
    scalar("FloorDivides", floor_divide, types=ALL, exact=True),
    binary("RemainderTensorTensor", remainder, types=ALL, exact=True),
    scalar("RemainderTensorScalar", remainder, types=ALL, exact=True),
    Rule("aclnnRemainderScalarTensor", "scalar_first", remainder, types=ALL, exact=True),
    binary("FmodTensor", fmod, types=ALL, exact=True), scalar("FmodScalar", fmod, types=ALL, exact=True),
    binary("Atan2", np.arctan2),
    *(binary(name + "Tensor", f, types=EVERY, truth=True) for name, f in COMPARISONS.items()),
    *(scalar(name + "Scalar", f, types=EVERY, truth=True) for name, f in COMPARISONS.items()),
    binary("LogicalAnd", np.logical_and, types=EVERY, truth=True),
    binary("LogicalOr", np.logical_or, types=EVERY, truth=True),
    binary("LogicalXor", np.logical_xor, types=EVERY, truth=True, inplace=False),
    *(binary(f"Bitwise{name}Tensor", f, types=INTEGERS + ("bool",)) for name, f in
      (("And", np.bitwise_and), ("Or", np.bitwise_or), ("Xor", np.bitwise_xor))),
    *(scalar(f"Bitwise{name}Scalar", f, types=INTEGERS) for name, f in
      (("And", np.bitwise_and), ("Or", np.bitwise_or), ("Xor", np.bitwise_xor))),
    binary("BitwiseAndTensorOut", np.bitwise_and, types=INTEGERS + ("bool",)),
    unary("BitwiseNot", lambda x: ~x, types=INTEGERS, inplace=False),
]

TERNARY = [
    Rule("aclnnSWhere", "where", lambda c, x, y: np.where(c != 0, x, y), types=EVERY),
    Rule("aclnnInplaceMaskedFillScalar", "mask", lambda x, m, v: np.where(m != 0, v, x), types=EVERY),
    Rule("aclnnClampTensor", "ternary", lambda x, y, z: np.minimum(np.maximum(x, y), z), types=ALL),
    Rule("aclnnLerp", "ternary", lambda x, y, z: x + z * (y - x),
         scale=lambda x, y, z: np.abs(x) + np.abs(z) * (np.abs(x) + np.abs(y))),
    Rule("aclnnAddcmul", "ternary_value", lambda x, y, z, v: wrap(x + wrap(wrap(v * y) * z)), types=ALL,
         scale=lambda x, y, z, v: np.abs(x) + np.abs(v * y * z)),
    Rule("aclnnAddcdiv", "ternary_value", lambda x, y, z, v: x + v * y / z,
         scale=lambda x, y, z, v: np.abs(x) + np.abs(v * y / z)),
]

RULES = UNARY + ACTIVATIONS + TESTS + NUMBERS + BINARY + TERNARY
