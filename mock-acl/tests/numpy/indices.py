"""Operators that read or write where index tensors say, one element after the other, in NumPy."""
import ctypes
import itertools

from device import contiguous, decode, encode, FLOATS, np

from calls import Expect, output, rule
from moves import integer, signed

WRITE, ADD, MULTIPLY = 0, 1, 2


def small(case, least=1, most=1500):
    while True:
        shape = case.shape()
        if len(shape) >= least and np.prod(shape, dtype=np.int64) <= most:
            return shape


def integers(case, low, high, shape):
    """Indices as an operand; none where there is nothing to choose."""
    shape = tuple(shape)
    if high <= low:
        shape = (0,) * len(shape) if shape else shape
    numbers = case.random.integers(low, max(high, low + 1), shape)
    return case.given(numbers, case.pick(["s32", "s64"]))


def flag(value):
    return ctypes.c_bool(bool(value))


def any_axis(case, shape):
    d = int(case.random.integers(0, len(shape)))
    return d, integer(signed(case, d, len(shape)))


def combined(old, new, effect):
    with np.errstate(all="ignore"):
        return new if effect == WRITE else old + new if effect == ADD else old * new


def result(case, x, want, dtype, inplace):
    """The operand itself, or a new one."""
    return Expect(x, want, dtype) if inplace else output(case, want, dtype)


# ---- reading ----

def gather(case, dtype):
    shape = small(case)
    d, dim = any_axis(case, shape)
    x = case.operand(shape, dtype)
    rank = int(case.random.integers(0 if shape[d] else 1, 4))
    index = integers(case, -shape[d], shape[d], [case.pick([1, 2, 3]) for _ in range(rank)])
    return [x, dim, index, output(case, np.take(x[4], index[4], d), dtype)]


def coordinates(case, shape, negative):
    """[..., k] with the first k coordinates, and the choice that they make."""
    depth = int(case.random.integers(0, len(shape) + 1))
    lead = [case.pick([1, 2, 3]) for _ in range(int(case.random.integers(0, 3)))]
    if 0 in shape[:depth]:
        lead = [0, *lead]
    parts = [case.random.integers(-n if negative else 0, max(n, 1), lead) for n in shape[:depth]]
    numbers = np.stack(parts, -1) if depth else np.zeros((*lead, 0), np.int64)
    return case.given(numbers, case.pick(["s32", "s64"])), tuple(lead), depth


def gather_nd(case, dtype):
    shape, negative = small(case), case.random.random() < 0.5
    x = case.operand(shape, dtype)
    indices, lead, depth = coordinates(case, shape, negative)
    want = np.empty((*lead, *shape[depth:]), x[4].dtype)
    for i in np.ndindex(lead):
        want[i] = x[4][tuple(indices[4][i])]
    return [x, indices, flag(negative), output(case, want, dtype)]


def take(case, dtype):
    x = case.operand(small(case, 0), dtype)
    index = integers(case, -x[4].size, x[4].size, [case.pick([1, 2, 5]) for _ in range(case.pick([1, 2]))])
    return [x, index, output(case, x[4].ravel()[index[4]], dtype)]


def a_list(case, shape):
    """Index tensors for some of the first dimensions, and the same for NumPy; sometimes they choose nothing."""
    count = int(case.random.integers(1, len(shape) + 1))
    if case.random.random() < 0.1:
        none = [np.zeros(case.pick([(0,), (2, 0)]), np.int64)] * count
        return [case.given(each, case.pick(["s32", "s64"])) for each in none], tuple(none)
    common = [case.pick([1, 2, 3]) for _ in range(case.pick([1, 1, 2]))]
    members, key = [], []
    for n in shape[:count]:
        if n == 0 or case.random.random() < 0.25:
            members.append(case.given(np.zeros(0, np.int64), "s64"))
            key.append(slice(None))
        else:
            index = integers(case, -n, n, case.broadcast(common))
            members.append(index)
            key.append(index[4])
    return members, tuple(key)


def index(case, dtype):
    shape = small(case)
    x = case.operand(shape, dtype)
    members, key = a_list(case, shape)
    return [x, members, output(case, x[4][key], dtype)]


# ---- writing along a dimension ----

def scatter(inplace, form):
    def make(case, dtype):
        shape = small(case)
        d, dim = any_axis(case, shape)
        x = case.operand(shape, dtype)
        sizes = [int(case.random.integers(0, n + 1)) for n in shape]
        sizes[d] = int(case.random.integers(0, 6)) if shape[d] else 0
        index = case.given(case.random.integers(0, max(shape[d], 1), sizes), case.pick(["s32", "s64"]))
        effect = ADD if form == "add" else case.pick([WRITE, ADD, MULTIPLY])
        want = np.array(x[4])
        if form == "value":
            kind = "f32" if dtype in FLOATS else "s32"
            number = case.pick([0, 1, 3])
            source = case.device.scalar(number, kind)
            values = np.broadcast_to(decode(encode(np.array(number), dtype), dtype), sizes)
        else:
            source = case.operand([n + case.pick([0, 0, 1]) for n in sizes], dtype)
            values = source[4]
        for i in np.ndindex(*sizes):
            place = (*i[:d], index[4][i], *i[d + 1:])
            want[place] = combined(want[place], values[i], effect)
        reduce = [] if form == "add" else [integer(effect)]
        arguments = [x, dim, index, source, *reduce]
        if inplace:
            return [Expect(x, want, dtype), *arguments[1:]]
        return [*arguments, output(case, want, dtype)]
    return make


def scatter_update(case, dtype):
    shape = [n or 1 for n in small(case, 2)]
    axis = int(case.random.integers(1, len(shape)))
    part = list(shape)
    part[axis] = int(case.random.integers(0, shape[axis] + 1))
    x, updates = case.operand(shape, dtype), case.operand(part, dtype)
    one = case.random.random() < 0.2
    indices = integers(case, 0, shape[axis] - part[axis] + 1, () if one else (shape[0],))
    want = np.array(x[4])
    for b in range(shape[0]):
        at = int(indices[4] if one else indices[4][b])
        place = (b, *(slice(None),) * (axis - 1), slice(at, at + part[axis]))
        want[place] = updates[4][b]
    return [Expect(x, want, dtype), indices, updates, integer(signed(case, axis, len(shape)))]


def slices(case, dtype, negative):
    """Self, an axis and the indices of some of its slices."""
    shape = small(case)
    d, dim = any_axis(case, shape)
    count = int(case.random.integers(0, 6)) if shape[d] else 0
    numbers = case.random.integers(-shape[d] if negative else 0, max(shape[d], 1), count)
    return case.operand(shape, dtype), d, dim, numbers


def line(case, numbers):
    if numbers.size == 1 and case.random.random() < 0.3:
        numbers = numbers.reshape(())
    return case.given(numbers, case.pick(["s32", "s64"]))


def with_source(effect, inplace):
    def make(case, dtype):
        x, d, dim, numbers = slices(case, dtype, False)
        shape = list(x[4].shape)
        shape[d] = numbers.size
        source, want = case.operand(shape, dtype), np.array(x[4])
        kind = "f32" if dtype in FLOATS else "s32"
        alpha = case.pick([1, 2, -1] + ([0.5] if dtype in FLOATS else []))
        for k, at in enumerate(numbers):
            here = (slice(None),) * d
            new = source[4][(*here, k)] * (alpha if effect == ADD else 1)
            want[(*here, at)] = combined(want[(*here, at)], new, effect)
        more = [case.device.scalar(alpha, kind)] if effect == ADD else []
        first = Expect(x, want, dtype) if inplace else x
        return [first, dim, line(case, numbers), source, *more, *([] if inplace else [output(case, want, dtype)])]
    return make


def fill(host, inplace):
    def make(case, dtype):
        x, d, dim, numbers = slices(case, dtype, True)
        value, want = case.pick([0, 1, 7]), np.array(x[4])
        want[(*(slice(None),) * d, numbers)] = decode(encode(np.array(value), dtype), dtype)
        number = case.device.scalar(value, case.pick(["f32", "s32"]))
        chosen = case.device.ints([int(n) for n in numbers]) if host else line(case, numbers)
        first = Expect(x, want, dtype) if inplace else x
        return [first, dim, chosen, number, *([] if inplace else [output(case, want, dtype)])]
    return make


# ---- writing at several indices ----

def index_put(case, dtype):
    shape = small(case)
    x, add = case.operand(shape, dtype), case.random.random() < 0.5
    members, key = a_list(case, shape)
    numbers = np.arange(x[4].size).reshape(shape)[key]
    values = case.operand(case.broadcast(numbers.shape), dtype)
    want = np.array(x[4])
    chosen = np.broadcast_to(values[4], numbers.shape)
    if all(isinstance(part, slice) for part in key):
        numbers = chosen = numbers[:0]  # a list without any index is taken for one that chose nothing
    for place, new in zip(numbers.ravel(), chosen.ravel()):
        want.flat[place] = combined(want.flat[place], new, ADD if add else WRITE)
    return [Expect(x, want, dtype), members, values, flag(add), flag(False)]


def put(case, dtype):
    x, add = case.operand(small(case, 0), dtype), case.random.random() < 0.5
    index = integers(case, -x[4].size, x[4].size, [case.pick([1, 2, 5]) for _ in range(case.pick([1, 2]))])
    source = case.operand(index[4].shape, dtype)
    if case.random.random() < 0.2:
        shape = contiguous((index[4].size,))
        storage = encode(case.values(index[4].size, dtype), dtype)
        source = (*case.device.tensor(storage, dtype, shape), storage, shape, decode(storage, dtype))
    want = np.array(x[4])
    for place, new in zip(index[4].ravel(), source[4].ravel()):
        want.flat[place] = combined(want.flat[place], new, ADD if add else WRITE)
    return [Expect(x, want, dtype), index, source, flag(add)]


def scatter_nd(inplace):
    def make(case, dtype):
        shape = small(case)
        x = case.operand(shape, dtype)
        indices, lead, depth = coordinates(case, shape, False)
        updates, want = case.operand((*lead, *shape[depth:]), dtype), np.array(x[4])
        for i in np.ndindex(lead):
            want[tuple(indices[4][i])] = updates[4][i]
        if inplace:
            return [Expect(x, want, dtype), indices, updates]
        return [x, indices, updates, output(case, want, dtype)]
    return make


# ---- sizes that the data says ----

def room(case, want, dtype, count):
    """A contiguous tensor for up to `count` elements of a shape; what comes stands at its beginning."""
    shape = want.shape
    whole = np.zeros(int(np.prod(count)), want.dtype)
    whole[:want.size] = want.ravel()
    storage = encode(case.values(whole.size, dtype), dtype)
    view = contiguous(count)
    operand = (*case.device.tensor(storage, dtype, view), storage, view, None)
    loose = np.arange(whole.size).reshape(count) >= np.prod(shape)
    return Expect(operand, whole.reshape(count), dtype, None, loose)


def nonzero(turned):
    def make(case, dtype):
        shape = small(case, 0)
        x = case.operand(shape, dtype)
        zeroed = case.given(np.where(case.random.random(shape) < 0.5, encode(x[4], dtype), 0), dtype)
        want = np.argwhere(decode(zeroed[4], dtype) != 0)
        most = int(np.prod(shape))
        size = (len(shape), most) if turned else (most, len(shape))
        return [zeroed, room(case, want.T if turned else want, "s64", size)]
    return make


def masked_select(case, dtype):
    shape = small(case, 0)
    x, mask = case.operand(case.broadcast(shape), dtype), case.operand(case.broadcast(shape), case.pick(["bool", "u8"]))
    common = np.broadcast_shapes(x[4].shape, mask[4].shape)
    want = np.broadcast_to(x[4], common)[np.broadcast_to(mask[4], common) != 0]
    return [x, mask, room(case, want, dtype, (int(np.prod(common)),))]


def masked_scatter(case, dtype):
    shape = small(case, 0)
    x, mask = case.operand(shape, dtype), case.operand(case.broadcast(shape), "bool")
    seen = np.broadcast_to(mask[4], shape) != 0
    source = case.operand((int(seen.sum()) + case.pick([0, 1]), 1), dtype)
    want = np.array(x[4])
    want[seen] = source[4].ravel()[:int(seen.sum())]
    return [Expect(x, want, dtype), mask, source]


def repeats(listed, along):
    def make(case, dtype):
        shape = small(case, 1 if along else 0, 400)
        x = case.operand(shape, dtype)
        d, dim = any_axis(case, shape) if along else (None, None)
        lines = shape[d] if along else x[4].size
        one = case.random.random() < 0.3 and lines != 0
        times = case.random.integers(0, 4, 1 if one else lines)
        if not listed:
            times = np.array([case.pick([0, 1, 3])])
        values = x[4] if along else x[4].ravel()
        want = np.repeat(values, np.broadcast_to(times, lines), d if along else 0)
        given = None if listed else integer(times[0])
        if listed:
            given = case.given(times, case.pick(["s32", "s64"]))
        size = integer(want.shape[d] if along else want.size)
        return [x, given, *([dim] if along else []), size, output(case, want, dtype)]
    return make


def repeats_places(case, dtype):
    times = case.random.integers(0, 4, int(case.random.integers(0, 9)))
    want = np.repeat(np.arange(times.size), times)
    return [case.given(times, case.pick(["s32", "s64"])), integer(want.size), output(case, want, dtype)]


RULES = [
    rule("GatherV2", gather), rule("GatherNd", gather_nd), rule("Take", take), rule("Index", index),
    rule("Scatter", scatter(False, "")), rule("InplaceScatter", scatter(True, "")),
    rule("ScatterAdd", scatter(False, "add")), rule("ScatterValue", scatter(False, "value")),
    rule("InplaceScatterValue", scatter(True, "value")), rule("InplaceScatterUpdate", scatter_update),
    rule("IndexAdd", with_source(ADD, False)), rule("IndexCopy", with_source(WRITE, False)),
    rule("InplaceIndexCopy", with_source(WRITE, True)),
    *(rule(("Inplace" if inplace else "") + "IndexFill" + ("Tensor" if host else ""), fill(host, inplace))
      for host, inplace in itertools.product((False, True), repeat=2)),
    rule("IndexPutImpl", index_put), rule("InplacePut", put), rule("ScatterNd", scatter_nd(False)),
    rule("ScatterNdUpdate", scatter_nd(True)), rule("Nonzero", nonzero(False)), rule("NonzeroV2", nonzero(True)),
    rule("MaskedSelect", masked_select), rule("InplaceMaskedScatter", masked_scatter),
    rule("RepeatInterleave", repeats(True, False)), rule("RepeatInterleaveWithDim", repeats(True, True)),
    rule("RepeatInterleaveInt", repeats(False, False)), rule("RepeatInterleaveIntWithDim", repeats(False, True)),
    rule("RepeatInterleaveTensor", repeats_places, types=("s32", "s64")),
]
