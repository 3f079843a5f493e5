"""What there is of elements or slices, with places and counts, in NumPy."""
from device import encode, decode, np

from calls import rule
from indices import any_axis, flag, room, small
from moves import integer

FLAT = 1000  # the dimension that stands for none


def drawn(case, shape, dtype, nan=True):
    """An operand in which most values come more than once, and its numbers."""
    few = decode(encode(case.values(int(case.pick([1, 3, 9])), dtype), dtype), dtype)
    if not nan:
        few = np.where(few != few, 0, few)
    numbers = case.random.choice(few, shape)
    return case.given(encode(numbers, dtype), dtype), numbers


def keys(items, dtype):
    """By which items are ordered; 64 bits without a sign are one number each."""
    return items.view(np.uint64) if dtype == "u64" else items


def found(items, dtype, sort):
    """Of rows: first of each kind, inverse, counts."""
    rows = [tuple(row) for row in keys(items, dtype).tolist()]
    order = list(range(len(rows)))
    if sort:
        order.sort(key=lambda k: [(v != v, 0 if v != v else v) for v in rows[k]])
    firsts, inverse, counts = [], np.zeros(len(rows), np.int64), []
    for at, k in enumerate(order):
        if at == 0 or rows[order[at - 1]] != rows[k] or any(v != v for v in rows[k]):
            firsts.append(k)
            counts.append(0)
        counts[-1] += 1
        inverse[k] = len(firsts) - 1
    return firsts, inverse, np.array(counts, np.int64)


def places(case, asked, inverse, shape):
    if asked:
        return room(case, inverse.reshape(shape), "s64", shape)
    return None if case.random.random() < 0.5 else case.operand((0,), "s64")


def numbers(case, asked, counts, most):
    if asked:
        return room(case, counts, "s64", (most,))
    return None if case.random.random() < 0.5 else case.operand((0,), "s64")


def flat(name):
    def make(case, dtype):
        shape = small(case, 0, 300)
        x, data = drawn(case, shape, dtype)
        most = int(np.prod(shape))
        sort, inverse, counting = (bool(case.pick([0, 1])) for _ in range(3))
        firsts, where, counts = found(data.reshape(-1, 1), dtype, name != "UniqueConsecutive")
        values = room(case, data.ravel()[firsts], dtype, (most,))
        results = [values, places(case, inverse, where, shape)]
        if name == "Unique":
            return [x, flag(sort), flag(inverse), *results]
        results.append(numbers(case, counting, counts, most))
        if name == "Unique2":
            return [x, flag(sort), flag(inverse), flag(counting), *results]
        return [x, flag(inverse), flag(counting), integer(FLAT), *results]
    return make


def along(consecutive):
    def make(case, dtype):
        while True:
            shape = small(case, 1, 300)
            if 0 not in shape:
                break
        x, data = drawn(case, shape, dtype, False)
        d, dim = any_axis(case, shape)
        inverse, counting = bool(case.pick([0, 1])), not consecutive or bool(case.pick([0, 1]))
        items = np.ascontiguousarray(np.moveaxis(data, d, 0)).reshape(shape[d], -1)
        firsts, where, counts = found(items, dtype, not consecutive)
        results = [room(case, np.take(data, firsts, d), dtype, shape), places(case, inverse, where, (shape[d],)),
                   numbers(case, counting, counts, shape[d])]
        if consecutive:
            return [x, flag(inverse), flag(counting), dim, *results]
        return [x, flag(case.pick([0, 1])), flag(inverse), dim, *results]
    return make


RULES = [
    *(rule(name, flat(name)) for name in ("Unique", "Unique2", "UniqueConsecutive")),
    *(rule(name, along(consecutive)) for name, consecutive in (("UniqueDim", False), ("UniqueConsecutive", True))),
]
