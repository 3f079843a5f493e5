"""Gradients of activations, in NumPy: difference quotients of the activations, or formulas; makers as in calls.py.

Operands keep away from the corners, where either side's slope is one."""
import ctypes
import math

from calls import output, rule
from device import FLOATS, decode, encode, np

NARROW = ("f32", "f16", "bf16")
EXACT = ("ThresholdBackward", "HardshrinkBackward", "SoftshrinkBackward", "HardtanhBackward", "SigmoidBackward",
         "TanhBackward", "GeluBackward")
erf = np.vectorize(math.erf, otypes=[np.float64])


def logistic(x):
    return 0.5 * (1 + np.tanh(x / 2))


def quotient(function):
    """The slope by central differences, in long double."""
    def slope(y, *numbers):
        y = np.asarray(y, np.longdouble)
        h = np.longdouble(2) ** -18 * np.maximum(1, np.abs(y))
        return ((function(y + h, *numbers) - function(y - h, *numbers)) / (2 * h)).astype(np.float64)
    return slope


def softplus(y, beta):
    return np.logaddexp(0, beta * y) / beta


SLOPES = {
    "SigmoidBackward": lambda y: y * (1 - y),
    "TanhBackward": lambda y: 1 - y * y,
    "GeluBackward": lambda y: 0.5 * (1 + erf(y / math.sqrt(2))) + y * np.exp(-y * y / 2) / math.sqrt(2 * math.pi),
    "SiluBackward": quotient(lambda y: y / (1 + np.exp(-y))),
    "FastGeluBackward": quotient(lambda y: y / (1 + np.exp(-1.702 * y))),
    "MishBackward": quotient(lambda y: y * np.tanh(np.logaddexp(0, y))),
    "HardsigmoidBackward": quotient(lambda y: np.clip(y / 6 + 0.5, 0, 1)),
    "HardswishBackward": quotient(lambda y: y * np.clip(y / 6 + 0.5, 0, 1)),
    "HardswishBackwardV2": quotient(lambda y: y * np.clip(y / 6 + 0.5, 0, 1)),
    "LogSigmoidBackward": quotient(lambda y: -np.logaddexp(0, -y)),
}
WITH_NUMBERS = {
    "ThresholdBackward": (1, lambda y, a: y > a),
    "HardshrinkBackward": (1, lambda y, a: np.abs(y) > abs(a)),
    "SoftshrinkBackward": (1, lambda y, a: np.abs(y) > abs(a)),
    "HardtanhBackward": (2, lambda y, a, b: (y > min(a, b)) & (y < max(a, b))),
    "SwishBackward": (1, lambda y, a: quotient(lambda z, b: z / (1 + np.exp(-b * z)))(y, a)),
}


def numbers_at(case, shape, dtype):
    """Half of the numbers lie between -2 and 2; none is a multiple of a quarter."""
    count = int(np.prod(shape))
    values = np.round(case.random.standard_normal(count) * case.pick([0.7, 3.0]) * 4) / 4 + 0.125
    elements = encode(values.reshape(shape), dtype)
    return (*case.given(elements, dtype)[:4], decode(elements, dtype))


def pair(case, dtype):
    shape = case.shape()
    grad, other = numbers_at(case, shape, dtype), numbers_at(case, shape, dtype)
    return shape, grad, other


def result(case, grad, slope, dtype):
    want = grad[4] * slope
    # The slope comes from functions that are good to some units of f32.
    return output(case, want, dtype, np.abs(grad[4]) * np.maximum(1, np.abs(slope)))


def plain(name):
    def make(case, dtype):
        _, grad, other = pair(case, dtype)
        more = [case.operand(case.pick([(0,), grad[4].shape]), dtype)] if name == "LogSigmoidBackward" else []
        return [grad, other, *more, result(case, grad, SLOPES[name](other[4]), dtype)]
    return make


def with_numbers(name):
    count, slope = WITH_NUMBERS[name]

    def make(case, dtype):
        _, grad, other = pair(case, dtype)
        given = [float(v) for v in sorted(case.random.choice([0.25, 0.5, 1.0, 1.5], count, replace=False))]
        if name == "HardtanhBackward":
            given[0] = -given[0]
        scalars = [case.device.scalar(v, "f32") for v in given]
        return [grad, other, *scalars, result(case, grad, slope(other[4], *given), dtype)]
    return make


def softplus_backward(case, dtype):
    _, grad, other = pair(case, dtype)
    beta, threshold = case.pick([1.0, 2.0]), case.pick([3.0, 20.0])
    slope = np.where(other[4] * beta > threshold, 1, quotient(softplus)(other[4], beta))
    scalars = [case.device.scalar(v, "f32") for v in (beta, threshold)]
    return [grad, other, *scalars, result(case, grad, slope, dtype)]


def gelu_v2(case, dtype):
    _, grad, other = pair(case, dtype)
    kind = case.pick(["none", "tanh"])
    bent = quotient(lambda y: y / 2 * (1 + np.tanh(np.sqrt(np.longdouble(2) / np.pi) * (y + 0.044715 * y**3))))
    slope = SLOPES["GeluBackward"] if kind == "none" else bent
    return [grad, other, ctypes.c_char_p(kind.encode()), result(case, grad, slope(other[4]), dtype)]


def leaky(case, dtype):
    _, grad, other = pair(case, dtype)
    flag = ctypes.c_bool(bool(case.random.integers(0, 2)))
    slope = np.where(other[4] > 0, 1, 0.25)
    return [grad, other, case.device.scalar(0.25, "f32"), flag, result(case, grad, slope, dtype)]


def elu(case, dtype):
    shape, grad, other = pair(case, dtype)
    alpha, scale, inner = (case.pick([0.5, 1.0, 2.0]) for _ in range(3))
    below = other[4] < 0
    of_result = bool(case.random.integers(0, 2))
    if of_result:
        # y = scale * alpha * (e^(inner x) - 1), so its slope is inner * (y + scale * alpha).
        slope = np.where(below, inner * (other[4] + scale * alpha), scale)
    else:
        slope = np.where(below, scale * alpha * inner * np.exp(np.minimum(inner * other[4], 0)), scale)
    scalars = [case.device.scalar(v, "f32") for v in (alpha, scale, inner)]
    return [grad, *scalars, ctypes.c_bool(of_result), other, result(case, grad, slope, dtype)]


def selu(case, dtype):
    _, grad, other = pair(case, dtype)
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    slope = np.where(other[4] > 0, scale, other[4] + scale * alpha)
    return [grad, other, result(case, grad, slope, dtype)]


def types_of(name):
    """Quotients are no reference for f64."""
    return FLOATS if name in EXACT else NARROW


RULES = [
    *(rule(name, plain(name), types=types_of(name)) for name in SLOPES),
    *(rule(name, with_numbers(name), types=types_of(name)) for name in WITH_NUMBERS),
    rule("SoftplusBackward", softplus_backward, types=NARROW), rule("GeluBackwardV2", gelu_v2, types=NARROW),
    rule("LeakyReluBackward", leaky, types=FLOATS), rule("EluBackward", elu, types=FLOATS),
    rule("SeluBackward", selu, types=FLOATS),
]
