"""Operators by name that copy, turn, cut, pad, join and gather, in NumPy. Makers as in named.py."""
from device import DTYPES, FLOATS, INTEGERS, decode, encode, np

from elementwise import Rule
from moves import axes, signed
from named import Call, Given, Type, Wanted, blocks_for, given, ints, number, rule, some, tame

EVERY = FLOATS + INTEGERS + ("bool",)


def filled(case, least=0):
    """A shape without 0."""
    shape = tuple(max(n, 1) for n in case.shape())
    while len(shape) < least:
        shape = tuple(max(n, 1) for n in case.shape())
    return shape


def shape_of(case, least):
    shape = case.shape()
    while len(shape) < least:
        shape = case.shape()
    return shape


def result(operand, want, opens=False, attributes=None, inputs=()):
    return Call([operand, *inputs], [Wanted(want, operand.dtype)], attributes or {}, opens)


def same(case, dtype):
    """Blocks may come in, and go out."""
    shape = case.shape()
    x = some(case, shape, dtype)
    x.blocks = blocks_for(case, shape)
    made = result(x, x.numbers, True)
    made.outputs[0].blocks = blocks_for(case, shape)
    return made


def cast(case, dtype):
    """Numbers that both types have; to bool, whether they are 0."""
    to, shape = case.pick(EVERY), case.shape()
    x = given(case, np.abs(tame(case, shape, dtype).numbers), dtype)
    want = x.numbers != 0 if to == "bool" else x.numbers if to in FLOATS else np.trunc(x.numbers)
    told = case.pick([{}, {"dst_type": DTYPES[to][0]}, {"dst_type": Type(DTYPES[to][0])}])
    return Call([x], [Wanted(want, to)], told, True)


def transpose(attribute):
    def make(case, dtype):
        shape = case.shape()
        x, order = some(case, shape, dtype), [int(d) for d in case.random.permutation(len(shape))]
        want = x.numbers.transpose(order)
        if attribute:
            return result(x, want, attributes={"perm": order})
        return result(x, want, True, inputs=[ints(case, [signed(case, d, len(shape)) for d in order])])
    return make


def broadcast_to(case, dtype):
    shape = case.shape()
    x = some(case, case.broadcast(shape), dtype)
    return result(x, np.broadcast_to(x.numbers, shape), True, inputs=[ints(case, shape)])


def fill(case, dtype):
    shape = case.shape()
    value = some(case, case.pick([(), (1,)] if shape else [()]), dtype)
    value.place = case.pick(["device", "constant", "host"])
    return Call([ints(case, shape), value], [Wanted(np.broadcast_to(value.numbers, shape), dtype)])


def alike(value):
    def make(case, dtype):
        x = some(case, case.shape(), dtype)
        return result(x, np.full(x.elements.shape, value), True)
    return make


def pad(case, dtype):
    """Paddings are (before, after) of each dimension."""
    x = some(case, case.shape(), dtype)
    pairs = case.random.integers(0, 4, (x.elements.ndim, 2))
    return result(x, np.pad(x.numbers, pairs) if pairs.size else x.numbers, inputs=[ints(case, pairs)])


def pad_v3(case, dtype):
    """All before and then all after where they are not contiguous; negative ones cut where the value is a constant."""
    x, told = some(case, case.shape(), dtype), {}
    rank, how = x.elements.ndim, case.pick(["none", "left out", "constant", "constant", "device"])
    pairs = case.random.integers(0, 4, (rank, 2))
    value = 0 if how in ("none", "left out") else 1 if dtype == "bool" else 7
    want = np.pad(x.numbers, pairs, constant_values=value) if rank else x.numbers
    if how != "device" and rank and x.elements.shape[0] > 2 and case.random.random() < 0.4:
        want, pairs[0] = want[pairs[0, 0] + 1:], (-1, pairs[0, 1])
    contiguous = bool(case.random.integers(0, 2))
    if not contiguous or case.random.random() < 0.5:
        told["paddings_contiguous"] = contiguous
    if case.random.random() < 0.5:
        told["mode"] = "constant"
    more = {"none": [], "left out": [None], "constant": [number(case, value, dtype)],
            "device": [given(case, np.full(case.pick([(), (1,)] if rank else [()]), value), dtype)]}[how]
    return result(x, want, attributes=told, inputs=[ints(case, pairs if contiguous else pairs.T), *more])


def cut(case, dtype):
    x = some(case, case.shape(), dtype)
    first = [int(case.random.integers(0, n + 1)) for n in x.elements.shape]
    size = [int(case.random.integers(0, n - f + 1)) for n, f in zip(x.elements.shape, first)]
    want = x.numbers[tuple(slice(f, f + s) for f, s in zip(first, size))]
    told = [-1 if f + s == n and case.random.random() < 0.5 else s for f, s, n in zip(first, size, x.elements.shape)]
    return result(x, want, inputs=[ints(case, first), ints(case, told)])


def strided(case, dtype):
    """begin, end and strides of the first dimensions, which may lie outside; some lose their dimension."""
    x = some(case, filled(case), dtype)
    rank, shape = x.elements.ndim, x.elements.shape
    told = int(case.random.integers(0, rank + 1))
    first, last = (case.random.integers(-9, 10, told) for _ in range(2))
    step, masks, place = case.random.integers(1, 4, told), {"begin_mask": 0, "end_mask": 0, "shrink_axis_mask": 0}, []
    for d in range(told):
        open_first, open_last = case.random.random(2) < 0.2
        if case.random.random() < 0.25:
            first[d], masks["shrink_axis_mask"] = case.random.integers(-shape[d], shape[d]), masks["shrink_axis_mask"] | 1 << d
            place.append(int(first[d]))
            continue
        masks["begin_mask"] |= int(open_first) << d
        masks["end_mask"] |= int(open_last) << d
        place.append(slice(None if open_first else int(first[d]), None if open_last else int(last[d]), int(step[d])))
    attributes = {name: mask for name, mask in masks.items() if mask or case.random.random() < 0.5}
    if case.random.random() < 0.3:
        attributes.update(ellipsis_mask=0, new_axis_mask=0)
    return result(x, x.numbers[tuple(place)], attributes=attributes,
                  inputs=[ints(case, n) for n in (first, last, step)])


def as_strided(case, dtype):
    x = some(case, filled(case), dtype)
    line, rank = x.numbers.reshape(-1), int(case.random.integers(0, 4))
    offset = int(case.random.integers(0, line.size)) if case.random.random() < 0.6 else 0
    left, dims, steps = line.size - 1 - offset, [], []
    for _ in range(rank):
        dims.append(int(case.random.integers(0 if case.random.random() < 0.1 else 1, 5)))
        steps.append(int(case.random.integers(0, left // max(dims[-1] - 1, 1) + 1)))
        left -= max(dims[-1] - 1, 0) * steps[-1]
    at = np.full(dims, offset)
    for d, (n, s) in enumerate(zip(dims, steps)):
        at = at + (np.arange(n) * s).reshape([-1 if k == d else 1 for k in range(rank)])
    want = line[at] if at.size else np.zeros(dims, line.dtype)
    last = [ints(case, case.pick([offset, [offset]]))] if offset else case.pick([[], [None], [ints(case, [0])]])
    return result(x, want, True, inputs=[ints(case, dims), ints(case, steps), *last])


def reshape(case, dtype):
    x = some(case, case.shape(), dtype)
    parts, count = [], x.elements.size
    while count > 1 and len(parts) < 5:
        part = int(case.pick([n for n in range(1, count + 1) if count % n == 0]))
        parts.append(part)
        count //= part
    shape = [*parts, count] if count != 1 else parts
    return result(x, x.numbers.reshape(shape), inputs=case.pick([[], [ints(case, shape)]]))


def reverse(case, dtype):
    x = some(case, shape_of(case, 1), dtype)
    chosen = axes(case, x.elements.ndim)
    told = ints(case, [signed(case, d, x.elements.ndim) for d in chosen])
    return result(x, np.flip(x.numbers, chosen), True, inputs=[told])


def tile(case, dtype):
    x = some(case, case.shape(), dtype)
    times = case.random.integers(0, 4, x.elements.ndim)
    return result(x, np.tile(x.numbers, times) if times.size else x.numbers, inputs=[ints(case, times)])


def triangle(function):
    def make(case, dtype):
        x, diagonal = some(case, shape_of(case, 2), dtype), int(case.random.integers(-4, 5))
        told = {} if diagonal == 0 else {"diagonal": diagonal}
        return result(x, function(x.numbers, diagonal), True, told)
    return make


# ---- several tensors ----

def some_of(case, told, name, count):
    if case.random.random() < 0.7:
        told[name] = count
    return told


def concat(case, dtype):
    shape, count = list(shape_of(case, 1)), int(case.pick([1, 2, 3, 7]))
    d, parts = int(case.random.integers(0, len(shape))), []
    for _ in range(count):
        shape[d] = int(case.random.integers(0, 5))
        parts.append(some(case, shape, dtype))
    told = {"concat_dim": signed(case, d, len(shape))}
    want = np.concatenate([p.numbers for p in parts], d)
    return Call(parts, [Wanted(want, dtype)], some_of(case, told, "N", count))


def pack(case, dtype):
    shape, count = case.shape(), int(case.pick([1, 2, 3, 7]))
    parts, d = [some(case, shape, dtype) for _ in range(count)], int(case.random.integers(0, len(shape) + 1))
    told = {} if d == 0 and case.random.random() < 0.5 else {"axis": signed(case, d, len(shape) + 1)}
    want = np.stack([p.numbers for p in parts], d)
    return Call(parts, [Wanted(want, dtype)], some_of(case, told, "N", count))


def split(sizes_told):
    def make(case, dtype):
        shape, count = list(shape_of(case, 1)), int(case.pick([1, 2, 3, 7]))
        d = int(case.random.integers(0, len(shape)))
        sizes = [int(n) for n in case.random.integers(0, 5, count)]
        sizes = sizes if sizes_told else [sizes[0]] * count
        shape[d] = sum(sizes)
        x, told = some(case, shape, dtype), {"split_dim": signed(case, d, len(shape)), "num_split": count}
        if sizes_told:
            told["size_splits"] = sizes
        parts = np.split(x.numbers, np.cumsum(sizes)[:-1], d)
        return Call([x], [Wanted(p, dtype) for p in parts], told)
    return make


def gather(case, dtype):
    x = some(case, filled(case, 1), dtype)
    rank = x.elements.ndim
    d, shape = int(case.random.integers(0, rank)), [int(n) for n in case.random.integers(0, 4, case.pick([0, 1, 1, 2]))]
    at = Given(case.random.integers(0, x.elements.shape[d], shape), case.pick(["s32", "s64"]))
    at.elements = encode(at.elements, at.dtype)
    axis = ints(case, case.pick([signed(case, d, rank), [signed(case, d, rank)]]))
    want = np.take(x.numbers, at.numbers, d)
    told = case.pick([{}, {"batch_dims": 0}])
    return Call([x, at, axis], [Wanted(want, dtype)], told)


def gather_elements(case, dtype):
    x = some(case, filled(case, 1), dtype)
    rank = x.elements.ndim
    d = int(case.random.integers(0, rank))
    shape = [int(case.random.integers(0, n + 1)) for n in x.elements.shape]
    shape[d] = int(case.random.integers(0, 6))
    at = given(case, case.random.integers(0, x.elements.shape[d], shape), case.pick(["s32", "s64"]))
    part = x.numbers[tuple(slice(None) if k == d else slice(n) for k, n in enumerate(shape))]
    told = {} if d == 0 and case.random.random() < 0.5 else {"dim": signed(case, d, rank)}
    return Call([x, at], [Wanted(np.take_along_axis(part, at.numbers, d), dtype)], told)


def moved(name, maker, types=EVERY):
    return rule(name, maker, types, exact=True)


RULES = [
    *(moved(name, same) for name in ("Identity", "TensorMove", "TransData")), moved("Cast", cast),
    moved("Transpose", transpose(False)), moved("TransposeD", transpose(True)), moved("BroadcastTo", broadcast_to),
    moved("Fill", fill), moved("ZerosLike", alike(0)), moved("OnesLike", alike(1)), moved("Pad", pad),
    moved("PadV3", pad_v3), moved("Slice", cut), moved("StridedSlice", strided), moved("AsStrided", as_strided),
    moved("Reshape", reshape), moved("ReverseV2", reverse), moved("Tile", tile), moved("Tril", triangle(np.tril)),
    moved("Triu", triangle(np.triu)), moved("ConcatD", concat), moved("Pack", pack), moved("SplitD", split(False)),
    moved("SplitVD", split(True)), moved("GatherV2", gather), moved("GatherElements", gather_elements),
]
