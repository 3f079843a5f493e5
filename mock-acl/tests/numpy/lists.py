"""Operators with lists of tensors, in NumPy."""
import ctypes

from device import np

from calls import output, rule
from moves import integer, signed


def shapes(case, least=1):
    shape = case.shape()
    while len(shape) < least:
        shape = case.shape()
    return shape


def common(case, dtypes):
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = case.promote(result, dtype)
    return result


def types(case, dtype, count):
    mixed = case.random.random() < 0.2
    return [case.pick(case.rule.types) if mixed else dtype for _ in range(count)]


def converted(values, dtype):
    """As the promoted type holds them."""
    return values.astype(np.float64 if dtype[0] in "fb" and dtype != "bool" else np.int64)


def count_of(case):
    return 130 if case.random.random() < 0.03 else int(case.random.integers(1, 8))


def cat(case, dtype):
    shape = shapes(case)
    d, count = int(case.random.integers(0, len(shape))), count_of(case)
    kinds = types(case, dtype, count)
    result = common(case, kinds)
    members = []
    for kind in kinds:
        part = shape[:d] + (int(case.random.integers(0, 5)),) + shape[d + 1:]
        if case.random.random() < 0.1:
            part = (0,)
        members.append(case.operand(part, kind))
    if all(m[3][0] == (0,) for m in members):
        want, d, rank = np.zeros(0), 0, 1
    else:
        whole = [m[4] for m in members if m[3][0] != (0,) or len(shape) == 1]
        want, rank = np.concatenate([converted(m, result) for m in whole], d), len(shape)
    return [members, integer(signed(case, d, rank)), output(case, want, result)]


def stack(case, dtype):
    shape, count = case.shape(), count_of(case)
    kinds = types(case, dtype, count)
    result, d = common(case, kinds), int(case.random.integers(0, len(shape) + 1))
    members = [case.operand(shape, kind) for kind in kinds]
    want = np.stack([converted(m[4], result) for m in members], d)
    return [members, integer(signed(case, d, len(shape) + 1)), output(case, want, result)]


def split_equal(case, dtype):
    shape = shapes(case)
    d, each = int(case.random.integers(0, len(shape))), int(case.random.integers(1, 6))
    x = case.operand(shape, dtype)
    parts = np.split(x[4], range(each, max(shape[d], 1), each), d)
    return [x, ctypes.c_uint64(each), integer(signed(case, d, len(shape))),
            [output(case, part, dtype) for part in parts]]


def split_sizes(case, dtype):
    shape = shapes(case)
    d, count = int(case.random.integers(0, len(shape))), int(case.random.integers(1, 6))
    x = case.operand(shape, dtype)
    ends = sorted(int(n) for n in case.random.integers(0, shape[d] + 1, count - 1))
    sizes = [int(n) for n in np.diff([0, *ends, shape[d]])]
    return [x, case.device.ints(sizes), integer(signed(case, d, len(shape))),
            [output(case, part, dtype) for part in np.split(x[4], ends, d)]]


RULES = [rule("Cat", cat), rule("Stack", stack), rule("SplitTensor", split_equal),
         rule("SplitWithSize", split_sizes)]
