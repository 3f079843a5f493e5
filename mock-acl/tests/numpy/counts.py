"""Operators that collect in the places that their input names, in NumPy."""
import ctypes

from device import FLOATS, INTEGERS, np

from calls import Expect, output, rule
from indices import small
from moves import integer


def backward(case, dtype):
    shape, rows, width = small(case, 0, 60), int(case.random.integers(1, 9)), case.pick([1, 3, 8])
    index = case.given(case.random.integers(0, rows, shape), case.pick(["s32", "s64"]))
    grad = case.operand((*shape, width), dtype)
    padding = case.pick([-1, 0, 2])
    want = np.zeros((rows, width), grad[4].dtype)
    for i in np.ndindex(*shape):
        if index[4][i] != padding:
            want[index[4][i]] += grad[4][i]
    return [grad, index, ctypes.c_uint64(rows), ctypes.c_uint64(padding % 2**64), ctypes.c_bool(False),
            output(case, want, dtype)]


def bincount(case, dtype):
    count, most = int(case.random.integers(0, 40)), int(case.random.integers(1, 12))
    x = case.given(case.random.integers(0, most, count), dtype)
    least = case.pick([0, 3, 20])
    kind = case.pick(["f32", "f64", "f16"])
    weights = case.operand((count,), kind) if case.random.random() < 0.5 else None
    want = np.bincount(x[4], weights[4] if weights else None, max(least, most))
    size = np.bincount(x[4], np.abs(weights[4]), max(least, most)) if weights else None
    return [x, weights, integer(least), output(case, want, kind if weights else "s64", size)]


def histc(case, dtype):
    numbers = case.random.standard_normal(small(case, 0)) * 4
    numbers = np.where(case.random.random(numbers.shape) < 0.2, np.rint(numbers), numbers)
    if dtype in INTEGERS:
        numbers = np.rint(np.abs(numbers))
    elif dtype == "f32":
        numbers = numbers.astype(np.float32)
    x = case.given(numbers.astype(np.int64) if dtype in INTEGERS else numbers, dtype)
    low, high, bins = *case.pick([(0, 0), (-3, 3), (0, 5), (2, 2)]), case.pick([1, 4, 10])
    numbers = np.asarray(x[4], np.float64)
    first, last = low, high
    if low == high == 0 and numbers.size:
        first, last = numbers.min(), numbers.max()
    if first == last:
        first, last = first - 1, last + 1
    inside = numbers[(numbers >= first) & (numbers <= last)]
    places = np.minimum(((inside - first) / (last - first) * bins).astype(np.int64), bins - 1)
    kind = "f32" if dtype in FLOATS else dtype
    return [x, integer(bins), case.device.scalar(low, "s32"), case.device.scalar(high, "f32"),
            output(case, np.bincount(places, minlength=bins), kind)]


def copies(case, dtype):
    kinds = [case.pick(case.rule.types) for _ in range(4)]
    x = [case.operand(case.shape(), dtype) for _ in kinds]
    kinds = [kind if kind in FLOATS else dtype for kind in kinds]
    return [x, [output(case, a[4], kind) for a, kind in zip(x, kinds)]]


def zeros(case, dtype):
    x = [case.operand(case.shape(), dtype) for _ in range(3)]
    return [[Expect(a, np.zeros(a[4].shape), dtype) for a in x]]


RULES = [rule("EmbeddingDenseBackward", backward), rule("Bincount", bincount, types=INTEGERS),
         rule("Histc", histc, types=("f32", "f64", *INTEGERS)), rule("ForeachCopy", copies),
         rule("ForeachZeroInplace", zeros)]
