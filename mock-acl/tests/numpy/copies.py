"""Copies with a change of type or of order, fills, and rows of a table, in NumPy.

Nothing is computed, so the numbers are equal.
"""
from device import DTYPES, FLOATS, decode, encode, np

from calls import EVERY, Expect, output, rule
from moves import signed


def stored(values, source, to):
    """Numbers of one type as another holds them: to integers towards zero, saturating, NaN as 0; from integers to
    narrower ones the low bits, to f16 and bf16 rounded once."""
    values = np.asarray(values)
    if to == "bool":
        return values != 0
    if source in FLOATS and to not in FLOATS:
        info = np.iinfo(DTYPES[to][1])
        top, whole = float(info.max), np.where(np.isnan(values), 0, np.trunc(values))
        # The float of the greatest s64 is one too many.
        inside = np.where((whole >= top) | (whole <= float(info.min)), 0, whole).astype(np.int64)
        return np.where(whole >= top, info.max, np.where(whole <= float(info.min), info.min, inside))
    if source not in FLOATS and to in ("f16", "bf16"):
        # What of a large number f64 has no room for matters only by whether it is 0.
        values, room = values.astype(np.int64), 1 << 53
        low = values & 0xFFFF
        large = (values >= room) | (values <= -room)
        values = np.where(large, values - low + np.where(low == 0, 0, 0x8000), values).astype(np.float64)
    return decode(encode(values, to), to)


def cast(case, dtype):
    x, to = case.operand(case.shape(), dtype), case.pick(EVERY)
    return [x, DTYPES[to][0], output(case, stored(x[4], dtype, to), to)]


def copy(case, dtype):
    shape, to = case.shape(), case.pick(EVERY)
    target, x = case.operand(shape, to), case.operand(case.broadcast(shape), dtype)
    return [Expect(target, np.broadcast_to(stored(x[4], dtype, to), shape), to), x]


def permute(case, dtype):
    x = case.operand(case.shape(), dtype)
    order = [int(d) for d in case.random.permutation(x[4].ndim)]
    named = case.device.ints([signed(case, d, x[4].ndim) for d in order])
    return [x, named, output(case, np.transpose(x[4], order), dtype)]


def fill(case, dtype):
    kind = case.pick(["f32", "f64", "s32", "s64"])
    value = case.values(1, kind)
    x = case.operand(case.shape(), dtype)
    want = stored(decode(encode(value, kind), kind), kind, dtype)[0]
    return [Expect(x, np.broadcast_to(want, x[3][0]), dtype), case.device.scalar(value[0], kind)]


def constant(value):
    def make(case, dtype):
        x = case.operand(case.shape(), dtype)
        return [Expect(x, np.full(x[3][0], value), dtype)]
    return make


def masked_fill(case, dtype):
    shape = case.shape()
    x, mask = case.operand(shape, dtype), case.operand(case.broadcast(shape), "bool")
    value = case.operand(case.pick([(), (1,)]), dtype)
    return [Expect(x, np.where(mask[4] != 0, value[4].reshape(()), x[4]), dtype), mask, value]


def embedding(case, dtype):
    shape = case.shape()
    while len(shape) > 3:
        shape = case.shape()
    rows, columns = int(case.random.integers(1, 9)), int(case.random.integers(0, 9))
    weight = case.operand((rows, columns), dtype)
    index = case.given(case.random.integers(0, rows, shape), case.pick(["s32", "s64"]))
    return [weight, index, output(case, weight[4][index[4]], dtype)]


RULES = [
    rule("Cast", cast, exact=True), rule("InplaceCopy", copy, exact=True), rule("Permute", permute, exact=True),
    rule("InplaceFillScalar", fill, exact=True), rule("InplaceOne", constant(1), exact=True),
    rule("InplaceZero", constant(0), exact=True), rule("InplaceMaskedFillTensor", masked_fill, exact=True),
    rule("Embedding", embedding, exact=True),
]
