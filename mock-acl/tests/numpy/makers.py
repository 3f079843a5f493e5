"""Operators that make elements, in NumPy. Makers as in blocks.py."""
import ctypes

from device import FLOATS, INTEGERS, np

from elementwise import ALL, EVERY, Rule
from moves import integer, signed
from orders import Output
from reductions import flag, rounded


def sequence(with_end):
    """The numbers are multiples of an eighth, which every type of a scalar holds."""
    def make(case, dtype):
        n, signs = int(case.random.integers(0, 30)), case.pick([1, 1, -1])
        signs = 1 if dtype == "u8" else signs
        if case.random.random() < 0.5:
            kind = case.pick(["s32", "s64"])
            start, step = int(case.random.integers(0, 9)), int(case.random.integers(1, 4)) * signs
            short = int(case.random.integers(0, abs(step))) if n else 0
            end = start + step * n - short * signs
            n += with_end and short == 0
        else:
            kind = case.pick(["f32", "f64"])
            start, step = float(case.random.integers(0, 65)) / 8, float(case.random.integers(1, 33)) / 8 * signs
            n += with_end and n == 0
            end = start + step * (n - 0.5) if n else start
        if with_end and signs * (end - start) < 0:
            end, n = start, 1
        numbers = [case.device.scalar(v, kind) for v in (start, end, step)]
        want = start + np.arange(n) * step
        even = not with_end and n % 2 == 0 and case.random.random() < 0.3
        return [*numbers, Output(want.reshape(2, 1, -1) if even and n else want, dtype)]
    return make


def linspace(case, dtype):
    n = int(case.random.integers(0, 40))
    first, last = (float(v) / 8 for v in case.random.integers(0, 800, 2))
    first, last = (first, last) if dtype == "u8" or case.random.random() < 0.5 else (-first, last)
    step = (last - first) / (n - 1) if n > 1 else 0.0
    i = np.arange(n)
    want = np.where((i < n // 2) | (n == 1), first + step * i, last - step * (n - 1 - i))
    case.size = max(abs(first), abs(last))
    return [case.device.scalar(first, "f32"), case.device.scalar(last, "f32"), integer(n), Output(want, dtype)]


def eye(case, dtype):
    n, m = (int(v) for v in case.random.integers(0, 12, 2))
    return [integer(n), integer(m), Output(np.eye(n, m), dtype)]


def one_hot(case, dtype):
    shape = case.shape()
    count = int(case.random.integers(0, 7))
    kind = case.pick(INTEGERS)
    classes = case.given(case.random.integers(0 if kind == "u8" else -1, 8, shape), kind)
    on, off = (rounded(case, case.random.integers(0, 9, case.pick([(), (1,)])), dtype) for _ in range(2))
    axis = int(case.random.integers(0, len(shape) + 1))
    hot = np.expand_dims(classes[4], axis) == np.arange(count).reshape([-1 if d == axis else 1 for d in
                                                                        range(len(shape) + 1)])
    want = np.where(hot, on[4].reshape(()), off[4].reshape(()))
    return [classes[0], ctypes.c_int(count), on[0], off[0], integer(signed(case, axis, len(shape) + 1)),
            Output(want, dtype)]


def diagonal(case, dtype):
    rank = int(case.pick([2, 2, 2, 3, 4]))
    size = int(case.random.integers(0, 6))
    shape = tuple(int(v) for v in case.random.integers(0, 12, 2)) if rank == 2 else (size,) * rank
    x, wrap = case.operand(shape, dtype), bool(case.random.integers(0, 2))
    want = x[4].copy()
    value = int(case.random.integers(0, 2))
    if want.size:
        np.fill_diagonal(want, value, wrap)
    return [Output(want, dtype, x), case.device.scalar(value, case.pick(["s32", "f32"])), flag(wrap)]


def fill(case, dtype):
    x = case.operand(case.shape(), dtype)
    kind = case.pick(FLOATS + INTEGERS)
    value = rounded(case, np.full(case.pick([(), (1,)]), int(case.random.integers(0, 2))), kind)
    return [Output(np.full(x[3][0], value[4].reshape(())), dtype, x), value[0]]


def rule(name, maker, types=ALL):
    return Rule("aclnn" + name, "block", maker, types=types)


RULES = [
    rule("Arange", sequence(False)), rule("Range", sequence(True)), rule("Linspace", linspace),
    rule("Eye", eye, EVERY), rule("OneHot", one_hot), rule("InplaceFillDiagonal", diagonal, EVERY),
    rule("InplaceFillTensor", fill, EVERY),
]
