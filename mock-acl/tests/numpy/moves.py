"""Operators that give elements another place, in NumPy.

A maker takes the case and its operand self, and gives the arguments of the call (OUT stands for the output) and the
elements that have to come.
"""
import ctypes

from device import FLOATS, INTEGERS, np

from elementwise import Rule

OUT = object()
EVERY = FLOATS + INTEGERS + ("bool",)


def integer(value):
    return ctypes.c_int64(int(value))


def axes(case, rank):
    count = int(case.random.integers(0, rank + 1))
    return [int(d) for d in case.random.permutation(rank)[:count]]


def signed(case, axis, rank):
    """An axis counts from the end as well."""
    return axis - rank if case.random.random() < 0.4 else axis


def flip(case, x, values):
    chosen = axes(case, values.ndim)
    named = [signed(case, d, values.ndim) for d in chosen]
    return [x, case.device.ints(named), OUT], np.flip(values, chosen)


def roll(case, x, values):
    chosen = axes(case, values.ndim) or [0]
    by = [int(s) for s in case.random.integers(-9, 10, len(chosen))]
    return [x, case.device.ints(by), case.device.ints(chosen), OUT], np.roll(values, by, chosen)


def cut(case, x, values):
    d = int(case.random.integers(0, values.ndim))
    first, last = (int(n) for n in case.random.integers(-20, 21, 2))
    step = int(case.random.integers(1, 4))
    want = values[(slice(None),) * d + (slice(first, last, step),)]
    return [x, integer(signed(case, d, values.ndim)), integer(first), integer(last), integer(step), OUT], want


def repeat(case, x, values):
    extra = int(case.random.integers(0, 3))
    times = [int(n) for n in case.random.integers(0, 4, values.ndim + extra)]
    return [x, case.device.ints(times), OUT], np.tile(values, times) if times else values


def expand(case, x, values):
    lead = [int(n) for n in case.random.integers(0, 4, int(case.random.integers(0, 3)))]
    inner = [int(case.random.integers(1, 4)) if n == 1 else n for n in values.shape]
    named = [-1 if n == m and case.random.random() < 0.3 else n for n, m in zip(inner, values.shape)]
    return [x, case.device.ints(lead + named), OUT], np.broadcast_to(values, lead + inner)


def pad(case, x, values):
    pairs = [tuple(int(n) for n in case.random.integers(0, 4, 2)) for _ in values.shape]
    count = int(case.random.integers(0, values.ndim + 1))
    pairs[:values.ndim - count] = [(0, 0)] * (values.ndim - count)
    flat = [n for pair in reversed(pairs[values.ndim - count:]) for n in pair]
    want = np.pad(values, pairs, constant_values=1) if values.ndim else values
    return [x, case.device.ints(flat), case.device.scalar(1, "s32"), OUT], want


def triangle(function):
    def make(case, x, values):
        diagonal = int(case.random.integers(-4, 5))
        return [x, integer(diagonal), OUT], function(values, diagonal)
    return make


def places(case, size, shape):
    """Indices, also counted from the end."""
    return case.given(case.random.integers(-size, max(size, 1), shape), case.pick(["s32", "s64"]))


def index_select(case, x, values):
    d = int(case.random.integers(0, values.ndim))
    count = int(case.random.integers(0, 6)) if values.shape[d] else 0
    index = places(case, values.shape[d], count)
    return [x, integer(signed(case, d, values.ndim)), index[0], OUT], np.take(values, index[4], d)


def gather(case, x, values):
    d = int(case.random.integers(0, values.ndim))
    shape = [int(case.random.integers(0, n + 1)) for n in values.shape]
    shape[d] = int(case.random.integers(0, 6)) if values.shape[d] else 0
    index = places(case, values.shape[d], shape)
    part = values[tuple(slice(None) if k == d else slice(n) for k, n in enumerate(shape))]
    return [x, integer(signed(case, d, values.ndim)), index[0], OUT], np.take_along_axis(part, index[4], d)


def move(name, maker, least=0):
    rule = Rule("aclnn" + name, "move", maker, types=EVERY)
    rule.least = least
    return rule


RULES = [
    move("Flip", flip), move("Roll", roll, 1), move("Slice", cut, 1), move("Repeat", repeat), move("Expand", expand),
    move("ConstantPadNd", pad), move("Tril", triangle(np.tril), 2), move("Triu", triangle(np.triu), 2),
    move("IndexSelect", index_select, 1), move("Gather", gather, 1),
]
