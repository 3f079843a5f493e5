"""Operators that run along a dimension, in NumPy. Makers as in blocks.py."""
from device import DTYPES, FLOATS, INTEGERS, np

from elementwise import Rule
from moves import integer, signed
from orders import Output
from reductions import ALL, an_operand, cast, fitting, flag


def an_axis(case, values):
    """An axis and how the call names it; a scalar counts as one dimension."""
    d = int(case.random.integers(0, max(values.ndim, 1)))
    return d, signed(case, d, max(values.ndim, 1))


def running_end(values, axis, greatest):
    best, at = np.empty_like(values), np.zeros(values.shape, np.int64)
    lines, found, places = (np.moveaxis(a, axis, 0) for a in (values, best, at))
    for k in range(lines.shape[0]):
        if k == 0:
            found[0], places[0] = lines[0], 0
            continue
        further = lines[k] >= found[k - 1] if greatest else lines[k] <= found[k - 1]
        new = np.isnan(lines[k]) | (further & ~np.isnan(found[k - 1]))
        found[k] = np.where(new, lines[k], found[k - 1])
        places[k] = np.where(new, k, places[k - 1])
    return best, at


def extremes(greatest):
    def make(case, dtype):
        x = an_operand(case, dtype)
        d, named = an_axis(case, x[4])
        best, at = running_end(x[4], d, greatest) if x[4].ndim else (x[4], np.int64(0))
        return [x[0], integer(named), Output(best, dtype), Output(np.asarray(at), case.pick(["s64", "s32"]))]
    return make


def product(inplace):
    def make(case, dtype):
        x = an_operand(case, dtype)
        to = dtype if inplace else fitting(case, dtype)
        d, named = an_axis(case, x[4])
        want = np.cumprod(cast(x[4], to), axis=d).reshape(x[4].shape)
        case.size = np.abs(want) * 8 if to == "f64" else None
        dim = case.device.scalar(named, case.pick(["s32", "s64"]))
        if inplace:
            return [Output(want, to, x), dim]
        return [x[0], dim, DTYPES[to][0], Output(want, to)]
    return make


def running_sum(case, dtype):
    x = an_operand(case, dtype)
    values, (d, named) = x[4], an_axis(case, x[4])
    exclusive, reverse = case.random.integers(0, 2, 2)
    case.size = np.nansum(np.abs(values[np.isfinite(values)])) if dtype in FLOATS else None
    shape, values = values.shape, np.flip(values, d) if reverse and values.ndim else values
    want = np.cumsum(values, axis=d).reshape(shape)
    if exclusive:
        # Not the sum less the element: that loses digits, and infinities.
        first = np.zeros_like(np.take(np.atleast_1d(want), [0] if want.size else [], d))
        rest = np.delete(np.atleast_1d(want), -1, d) if want.size else np.atleast_1d(want)
        want = np.concatenate([first, rest], d).reshape(shape) if want.size else want
    want = np.flip(want, d) if reverse and want.ndim else want
    return [x[0], integer(named), flag(exclusive), flag(reverse), Output(want, dtype)]


def rule(name, maker, types=ALL):
    return Rule("aclnn" + name, "block", maker, types=types)


RULES = [
    rule("Cummax", extremes(True)), rule("Cummin", extremes(False)), rule("Cumprod", product(False)),
    rule("InplaceCumprod", product(True), FLOATS + INTEGERS), rule("CumsumV2", running_sum),
]
