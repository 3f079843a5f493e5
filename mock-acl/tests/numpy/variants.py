"""Sums and differences with a factor, quotients with modes and other forms of operators of elements, in NumPy.

Makers as in blocks.py.
"""
import ctypes

from device import FLOATS, INTEGERS, np

from elementwise import ALL, EVERY, Rule, erfc, floor_divide, promote, promote_scalar, sigmoid
from moves import integer
from orders import Output

NARROW = ("f32", "f16", "bf16")


def computed(values, compute):
    """What values are when the operator computes with them."""
    kind = np.float64 if compute in FLOATS else np.int64
    return np.asarray(values).astype(np.float32 if compute in NARROW else kind).astype(kind)


def two(case, dtype, inplace, types):
    """Two operands that broadcast, the type they are computed in, and the common shape."""
    shape = case.shape()
    second = dtype if inplace or case.random.random() < 0.6 else case.pick(types)
    x = case.operand(shape if inplace else case.broadcast(shape), dtype)
    y = case.operand(case.broadcast(shape), second)
    return x, y, promote(dtype, second)


def a_number(case, dtype, fits=False):
    kind = case.pick(["s32", "s64"] if dtype not in FLOATS and fits else ["f32", "s32"])
    value = float(case.random.integers(-40, 41)) / 8 if kind == "f32" else int(case.random.integers(-4, 6))
    return kind, value, case.device.scalar(value, kind)


def target(inplace, want, dtype, x):
    """Where the result goes, in front or at the end."""
    return ([Output(want, dtype, x)], []) if inplace else ([x[0]], [Output(want, dtype)])


def tensors(function, inplace=False):
    def make(case, dtype):
        x, y, compute = two(case, dtype, inplace, ALL)
        _, a, alpha = a_number(case, compute, True)
        p, q, a = (computed(v, compute) for v in (x[4], y[4], a))
        case.size = np.abs(p) + np.abs(q) + np.abs(a * p) + np.abs(a * q) if compute in FLOATS else None
        first, last = target(inplace, function(p, q, a), compute, x)
        return [*first, y[0], alpha, *last]
    return make


def numbers(function, inplace=False, number_first=False):
    def make(case, dtype):
        x = case.operand(case.shape(), dtype)
        kind, n, other = a_number(case, dtype, inplace)
        compute = promote_scalar(dtype, kind)
        _, a, alpha = a_number(case, compute, True)
        p, n, a = (computed(v, compute) for v in (x[4], n, a))
        case.size = np.abs(p) * (1 + np.abs(a)) + np.abs(n) * (1 + np.abs(a)) if compute in FLOATS else None
        first, last = target(inplace, function(p, n, a), compute, x)
        return [other, *first, alpha, *last] if number_first else [*first, other, alpha, *last]
    return make


def towards_zero(x, y):
    if x.dtype != np.int64:
        return np.trunc(x / y)
    safe = np.where(y == 0, 1, y)
    down = x // safe
    down = down + ((x % safe != 0) & ((x < 0) != (safe < 0)))
    return np.where(y == 0, 0, np.where(y == -1, -x, down))


MODES = (lambda x, y: x / y, towards_zero, floor_divide)


def quotient(scalar, inplace=False):
    def make(case, dtype):
        mode = int(case.random.integers(0, 3))
        if inplace and mode == 0 and dtype not in FLOATS:
            mode = 1
        if scalar:
            x = case.operand(case.shape(), dtype)
            kind, n, other = a_number(case, dtype, inplace)
            compute = promote_scalar(dtype, kind)
        else:
            x, y, compute = two(case, dtype, inplace, ALL)
            n, other = y[4], y[0]
        compute = compute if mode or compute in FLOATS else "f32"
        p, q = computed(x[4], compute), computed(n, compute)
        if mode and compute in NARROW:  # the quotient is rounded to f32 before it loses its fraction
            p, q = p.astype(np.float32), q.astype(np.float32)
        first, last = target(inplace, MODES[mode](p, q), compute, x)
        return [*first, other, ctypes.c_int(mode), *last]
    return make


def decimals(inplace):
    def make(case, dtype):
        x = case.operand(case.shape(), dtype)
        compute = dtype if dtype in FLOATS else "f32"
        places = int(case.random.integers(-3, 5))
        kind = np.float64 if compute == "f64" else np.float32
        values, power = x[4].astype(kind), kind(10.0 ** abs(places))
        want = np.rint(values * power) / power if places >= 0 else np.rint(values / power) * power
        first, last = target(inplace, want, compute, x)
        return [*first, integer(places), *last]
    return make


def to_number(inplace):
    def make(case, dtype):
        x = case.operand(case.shape(), dtype)
        nan, high, low = (float(v) for v in case.random.integers(-9, 10, 3))
        values = x[4]
        want = np.where(values == np.inf, high, np.where(values == -np.inf, low, values))
        want = np.where(np.isnan(values), nan, want)
        want = want.astype(values.dtype) if dtype in FLOATS else values
        first, last = target(inplace, want, dtype, x)
        return [*first, *(ctypes.c_float(v) for v in (nan, high, low)), *last]
    return make


def lerp(scalar):
    def make(case, dtype):
        shape = case.shape()
        x, y = case.operand(shape, dtype), case.operand(case.broadcast(shape), dtype)
        if scalar:
            weight = float(case.random.integers(0, 9)) / 8
            handle = case.device.scalar(weight, "f32")
        else:
            operand = case.operand(case.broadcast(shape), dtype)
            weight, handle = operand[4], operand[0]
        case.size = np.abs(x[4]) + np.abs(weight) * (np.abs(x[4]) + np.abs(y[4]))
        return [Output(x[4] + weight * (y[4] - x[4]), dtype, x), y[0], handle]
    return make


def lerps(case, dtype):
    shape, weight = case.shape(), float(case.random.integers(0, 9)) / 8
    x, y = case.operand(case.broadcast(shape), dtype), case.operand(case.broadcast(shape), dtype)
    case.size = np.abs(x[4]) + weight * (np.abs(x[4]) + np.abs(y[4]))
    return [x[0], y[0], case.device.scalar(weight, "f32"), Output(x[4] + weight * (y[4] - x[4]), dtype)]


def added(function):
    """selfRef plus a number times what the function makes of two tensors."""
    def make(case, dtype):
        shape = case.shape()
        x, y, z = (case.operand(s, dtype) for s in (shape, case.broadcast(shape), case.broadcast(shape)))
        kind, value = ("f32", 0.5) if dtype in FLOATS else ("s32", 3)
        with np.errstate(all="ignore"):
            term = function(value * y[4], z[4])
        case.size = np.abs(x[4]) + np.abs(term) if dtype in FLOATS else None
        return [Output(x[4] + term, dtype, x), y[0], z[0], case.device.scalar(value, kind)]
    return make


def clamp(case, dtype):
    """One of the limits may be left out; a limit of f32 makes a result of f32 from integers."""
    x = case.operand(case.shape(), dtype)
    kinds = [case.pick(["f32", "s32"]) for _ in range(2)]
    low, high = sorted(int(n) for n in case.random.integers(-9, 10, 2))
    left = int(case.random.integers(0, 3))
    compute = dtype
    for kind in (kinds[:1] if left != 1 else []) + (kinds[1:] if left != 2 else []):
        compute = promote_scalar(compute, kind)
    values = computed(x[4], compute)
    if left != 1:
        values = np.maximum(values, low)
    if left != 2:
        values = np.minimum(values, high)
    limits = [None if left == 1 else case.device.scalar(low, kinds[0]),
              None if left == 2 else case.device.scalar(high, kinds[1])]
    return [x[0], *limits, Output(values, compute)]


def gelu(form):
    """By the error function, by tanh, or either as a parameter says."""
    def make(case, dtype):
        tanh = form == "either" and bool(case.random.integers(0, 2))
        x = case.operand(case.shape(), dtype)
        v = x[4].astype(np.float64)
        if tanh:
            # 0.5 * (1 + tanh(z)) without a loss of digits.
            inner = np.sqrt(2 / np.pi) * (v + 0.044715 * v ** 3)
            want = np.where(np.isneginf(v), np.nan, v * sigmoid(2 * inner))
        else:
            want = 0.5 * v * erfc(-v / np.sqrt(2))
        case.size = np.abs(v)
        return [x[0], *([integer(tanh)] if form == "either" else []), Output(want, dtype)]
    return make


def triangle(function):
    def make(case, dtype):
        shape = case.shape()
        while len(shape) < 2:
            shape = case.shape()
        x, diagonal = case.operand(shape, dtype), int(case.random.integers(-4, 5))
        return [Output(function(x[4], diagonal), dtype, x), integer(diagonal)]
    return make


def log_sigmoid(case, dtype):
    x = case.operand(case.shape(), dtype)
    want = np.minimum(x[4], 0) - np.log1p(np.exp(-np.abs(x[4])))
    return [x[0], Output(want, dtype), case.operand(case.shape(), dtype)[0]]


def rule(name, maker, types=ALL):
    return Rule("aclnn" + name, "block", maker, types=types)


def both(name, maker, types=ALL):
    return [rule(name, maker(False), types), rule("Inplace" + name, maker(True), types)]


def relu(x):
    return np.where(x < 0, 0, x)


RULES = [
    *both("Add", lambda i: tensors(lambda x, y, a: x + a * y, i)),
    *both("Sub", lambda i: tensors(lambda x, y, a: x - a * y, i)),
    rule("Rsub", tensors(lambda x, y, a: y - a * x)),
    *both("AddRelu", lambda i: tensors(lambda x, y, a: relu(x + a * y), i)),
    *both("Adds", lambda i: numbers(lambda x, n, a: x + a * n, i)),
    *both("Subs", lambda i: numbers(lambda x, n, a: x - a * n, i)),
    rule("Rsubs", numbers(lambda x, n, a: n - a * x)),
    rule("AddV3", numbers(lambda x, n, a: n + a * x, number_first=True)),
    *both("DivMod", lambda i: quotient(False, i)), *both("DivMods", lambda i: quotient(True, i)),
    *both("RoundDecimals", decimals, FLOATS), *both("NanToNum", to_number, EVERY),
    rule("InplaceLerp", lerp(False), FLOATS), rule("InplaceLerps", lerp(True), FLOATS),
    rule("InplaceTril", triangle(np.tril), EVERY), rule("InplaceTriu", triangle(np.triu), EVERY),
    rule("LogSigmoidForward", log_sigmoid, FLOATS), rule("Lerps", lerps, FLOATS), rule("Clamp", clamp),
    rule("InplaceAddcmul", added(lambda y, z: y * z)), rule("InplaceAddcdiv", added(lambda y, z: y / z), FLOATS),
    rule("Gelu", gelu("erf"), NARROW), rule("GeluV2", gelu("either"), NARROW),
]
