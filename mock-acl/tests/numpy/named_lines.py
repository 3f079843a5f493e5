"""Operators by name of lines, in NumPy: softmax, norms, reductions, ends and orders. Makers as in named.py."""
from device import FLOATS, INTEGERS, np

from moves import axes, signed
from named import Call, Wanted, given, ints, rule, some, tame
from named_moves import filled, shape_of
from orders import places
from reductions import cast, greatest, least

ALL = FLOATS + INTEGERS
NARROW = ("f32", "f16", "bf16")


def softened(values, d, logarithm=False):
    """(result, what rounding errors are relative to)"""
    off = values - values.max(d, keepdims=True)
    sums = np.exp(off).sum(d, keepdims=True)
    if logarithm:
        return off - np.log(sums), np.abs(off) + np.abs(np.log(sums)) + 1e-8
    return np.exp(off) / sums, np.exp(off) / sums * (1 + np.abs(off))


def soft(logarithm):
    def make(case, dtype):
        x = tame(case, filled(case, 1), dtype)
        rank = x.elements.ndim
        d = rank - 1 if case.random.random() < 0.3 else int(case.random.integers(0, rank))
        told = {} if d == rank - 1 and case.random.random() < 0.7 else {"axes": case.pick(
            [signed(case, d, rank), [signed(case, d, rank)]])}
        want, size = softened(x.numbers, d, logarithm)
        return Call([x], [Wanted(want, dtype, size)], told, True)
    return make


def masked_softmax(case, dtype):
    x = tame(case, filled(case, 2), dtype)
    shape, scale = x.elements.shape, float(np.float32(case.pick([1.0, 0.5, 0.125])))
    mask, fixed = some(case, case.pick([shape, case.broadcast(shape)]), "bool"), bool(case.random.integers(0, 2))
    hidden = np.triu(np.ones(shape), 1) if fixed else np.broadcast_to(mask.numbers, shape)
    want, size = softened(np.where(hidden != 0, -10000, x.numbers * scale), -1)
    told = {} if scale == 1 and case.random.random() < 0.5 else {"scale": scale}
    if fixed or case.random.random() < 0.5:
        told["fixed_triu_mask"] = fixed
    return Call([x, mask], [Wanted(want, dtype, size)], told, True)


def layer_norm(case, dtype):
    x = tame(case, filled(case, 1), dtype)
    shape, rank = x.elements.shape, x.elements.ndim
    first, epsilon = int(case.random.integers(0, rank)), float(np.float32(case.pick([1e-7, 1e-5, 1e-2])))
    gamma, beta = (tame(case, shape[first:], dtype, -8, 8) for _ in range(2))
    some_axes = tuple(range(first, rank))
    mean = x.numbers.mean(some_axes, keepdims=True)
    rstd = 1 / np.sqrt(np.square(x.numbers - mean).mean(some_axes, keepdims=True) + epsilon)
    want = (x.numbers - mean) * rstd * gamma.numbers + beta.numbers
    # The mean is off by a rounding of the sum.
    size = (np.abs(x.numbers) + np.abs(x.numbers).mean(some_axes, keepdims=True)) * rstd * np.abs(gamma.numbers)
    told = {} if first == 0 and case.random.random() < 0.5 else {"begin_norm_axis": signed(case, first, rank)}
    if epsilon != float(np.float32(1e-7)) or case.random.random() < 0.5:
        told["epsilon"] = epsilon
    return Call([x, gamma, beta], [Wanted(want, dtype, size + np.abs(beta.numbers))], told, True)


# ---- reductions ----

def reduction(function, form, sized=None, by_attribute=False, values=some):
    """`form`: the axes it takes: any, or one and all."""
    def make(case, dtype):
        x = values(case, filled(case), dtype)
        rank, keep = x.elements.ndim, bool(case.random.integers(0, 2))
        chosen = axes(case, rank)
        if form == "one or all":
            chosen = chosen[:1]
        over = tuple(chosen) or tuple(range(rank))
        told = [signed(case, d, rank) for d in chosen] if chosen or case.random.random() < 0.7 else list(over)
        attributes = {"keep_dims": keep} if keep or case.random.random() < 0.5 else {}
        if by_attribute:
            attributes["axes"] = told[0] if len(told) == 1 and case.random.random() < 0.5 else told
        want = function(x.numbers, over, keep)
        scale = sized(x.numbers, want) if sized and dtype in FLOATS else None
        to = "bool" if want.dtype == bool else dtype
        return Call([x] if by_attribute else [x, ints(case, told)], [Wanted(want, to, scale)], attributes)
    return make


def total(x, over, keep):
    return x.sum(axis=over, keepdims=keep)


def mean(x, over, keep):
    return x.mean(axis=over, keepdims=keep)


def product(x, over, keep):
    return x.prod(axis=over, keepdims=keep)


def small(case, shape, dtype):
    """Whose products stay in f16."""
    values = case.random.choice([1, 1, 1, 1, 2, -1, 0.5] if dtype in FLOATS else [1, 1, 1, 2, 3], shape)
    return given(case, np.where(case.random.random(shape) < 0.7, 1, values), dtype)


def any_of(x, over, keep):
    return (x != 0).any(axis=over, keepdims=keep)


def all_of(x, over, keep):
    return (x != 0).all(axis=over, keepdims=keep)


def sum_of_sizes(x, want):
    return np.abs(x).sum()


KINDS = {
    "ReduceSum": (total, "any", sum_of_sizes, ALL, tame), "ReduceMean": (mean, "any", sum_of_sizes, FLOATS, tame),
    "ReduceMax": (greatest, "any", None, ALL, some), "ReduceMin": (least, "any", None, ALL, some),
    "ReduceProd": (product, "one or all", lambda x, want: np.abs(want) * 4, ALL, small),
    "ReduceAny": (any_of, "any", None, ("bool",), some), "ReduceAll": (all_of, "any", None, ("bool",), some),
}


def running_sum(case, dtype):
    x = tame(case, shape_of(case, 1), dtype)
    d = int(case.random.integers(0, x.elements.ndim))
    told = {name: False for name in ("exclusive", "reverse") if case.random.random() < 0.3}
    size = np.abs(x.numbers).sum() if dtype in FLOATS else None
    axis = ints(case, case.pick([signed(case, d, x.elements.ndim), [signed(case, d, x.elements.ndim)]]))
    return Call([x, axis], [Wanted(np.cumsum(x.numbers, d), dtype, size)], told, True)


# ---- ends and orders ----

def one_axis(case, x):
    d = int(case.random.integers(0, x.elements.ndim))
    return d, signed(case, d, x.elements.ndim)


def end_place(function):
    def make(case, dtype):
        x = some(case, filled(case, 1), dtype)
        d, told = one_axis(case, x)
        # Without the dimension, or with it where the output has it.
        at = function(x.numbers, d) if case.random.random() < 0.7 else np.expand_dims(function(x.numbers, d), d)
        return Call([x, ints(case, case.pick([told, [told]]))], [Wanted(at, case.pick(["s32", "s64"]))])
    return make


def end_with_value(function):
    def make(case, dtype):
        x, keep = some(case, filled(case, 1), dtype), bool(case.random.integers(0, 2))
        d, told = one_axis(case, x)
        at = np.expand_dims(function(x.numbers, d), d)
        found = np.take_along_axis(x.numbers, at, d)
        at, found = (at, found) if keep else (at.squeeze(d), found.squeeze(d))
        attributes = {"dimension": told}
        if keep or case.random.random() < 0.5:
            attributes["keep_dims"] = keep
        return Call([x], [Wanted(at, case.pick(["s32", "s64"])), Wanted(found, dtype)], attributes)
    return make


def top(case, dtype):
    x = some(case, shape_of(case, 1), dtype)
    d, told = one_axis(case, x)
    k, largest = int(case.random.integers(0, x.elements.shape[d] + 1)), bool(case.random.integers(0, 2))
    at = np.take(places(x.numbers, d, largest), range(k), d)
    attributes = {} if d == x.elements.ndim - 1 and case.random.random() < 0.5 else {"dim": told}
    if not largest or case.random.random() < 0.5:
        attributes["largest"] = largest
    if case.random.random() < 0.5:
        attributes["sorted"] = True
    outputs = [Wanted(np.take_along_axis(x.numbers, at, d), dtype), Wanted(at, case.pick(["s32", "s64"]))]
    return Call([x, ints(case, case.pick([k, [k]]))], outputs, attributes)


def sort(case, dtype):
    x = some(case, shape_of(case, 1), dtype)
    d, told = one_axis(case, x)
    falls = bool(case.random.integers(0, 2))
    at = places(x.numbers, d, falls)
    attributes = {"stable": True} if d == x.elements.ndim - 1 and case.random.random() < 0.5 else {
        "axis": told, "stable": True}
    if falls or case.random.random() < 0.5:
        attributes["descending"] = falls
    outputs = [Wanted(np.take_along_axis(x.numbers, at, d), dtype), Wanted(at, case.pick(["s32", "s64"]))]
    return Call([x], outputs, attributes)


RULES = [
    rule("SoftmaxV2", soft(False), NARROW), rule("LogSoftmaxV2", soft(True), NARROW),
    rule("ScaledMaskedSoftmax", masked_softmax, NARROW), rule("LayerNorm", layer_norm, NARROW),
    *(rule(name + letter, reduction(function, form, sized, bool(letter), values), types,
           exact=name in ("ReduceMax", "ReduceMin"))
      for name, (function, form, sized, types, values) in KINDS.items() for letter in ("", "D")),
    rule("Cumsum", running_sum, ALL),
    rule("ArgMaxV2", end_place(np.argmax), ALL), rule("ArgMin", end_place(np.argmin), ALL),
    rule("ArgMaxWithValue", end_with_value(np.argmax), ALL, exact=True),
    rule("ArgMinWithValue", end_with_value(np.argmin), ALL, exact=True),
    rule("TopKV2", top, ALL, exact=True), rule("Sort", sort, ALL, exact=True),
]
