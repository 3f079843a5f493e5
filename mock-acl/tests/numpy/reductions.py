"""Operators that fold dimensions into one or two results, in NumPy. Makers as in blocks.py."""
import ctypes

from device import DTYPES, FLOATS, INTEGERS, decode, encode, np

from elementwise import Rule
from moves import axes, integer, signed
from orders import Output

ALL = FLOATS + INTEGERS
EVERY = ALL + ("bool",)


def flag(value):
    return ctypes.c_bool(bool(value))


def chosen(case, rank):
    """(list for the call, the axes): an empty list stands for all."""
    some = axes(case, rank)
    return case.device.ints([signed(case, d, rank) for d in some]), tuple(some) or tuple(range(rank))


def an_operand(case, dtype, filled=False, plain=False):
    """`filled`: no dimension of 0. `plain`: no NaN and no infinity."""
    shape = case.shape()
    while filled and 0 in shape:
        shape = case.shape()
    if not plain:
        return case.operand(shape, dtype)
    values = np.nan_to_num(case.values(int(np.prod(shape)), dtype)).reshape(shape)
    return rounded(case, np.clip(values, -300, 300), dtype)


def rounded(case, numbers, dtype):
    """An operand with these numbers, as its type has them."""
    operand = case.given(encode(numbers, dtype), dtype)
    return (*operand[:4], decode(operand[4], dtype))


def over(function, kinds=None, filled=False, noop=False, truth=False, positive=False):
    """NAME(self, dims, keep, [noop,] out); `kinds` are types of the result, that of self without."""
    def make(case, dtype):
        x = an_operand(case, dtype, filled)
        x = rounded(case, np.abs(x[4]), dtype) if positive else x
        values = x[4]
        keep, still = bool(case.random.integers(0, 2)), noop and bool(case.random.integers(0, 2))
        dims, some = chosen(case, values.ndim)
        if still and (case.random.random() < 0.5 or len(some) == values.ndim):
            dims, some = case.device.ints([]), ()
        to = case.pick(kinds) if kinds else dtype
        finite = np.abs(values[np.isfinite(values)]) if kinds and not truth else values
        case.size = finite.max(initial=1) if values.size and kinds and not truth else None
        want = function(values, some, keep)
        if noop:
            return [x[0], dims, flag(keep), flag(still), Output(want, to)]
        return [x[0], dims, flag(keep), Output(want, to)]
    return make


def greatest(x, some, keep):
    return np.max(x, axis=some, keepdims=keep)


def least(x, some, keep):
    return np.min(x, axis=some, keepdims=keep)


def whole(function):
    def make(case, dtype):
        x = an_operand(case, dtype, True)
        return [x[0], Output(function(x[4]), dtype)]
    return make


def both_ends(kind):
    def make(case, dtype):
        x = an_operand(case, dtype, True)
        values, keep = x[4], bool(case.random.integers(0, 2))
        if kind == "all":
            return [x[0], Output(values.min(), dtype), Output(values.max(), dtype)]
        dims, some = chosen(case, values.ndim)
        if kind == "dim":
            d = int(case.random.integers(0, max(values.ndim, 1)))
            dims, some = integer(signed(case, d, max(values.ndim, 1))), (d,) if values.ndim else ()
        return [x[0], dims, flag(keep), Output(least(values, some, keep), dtype),
                Output(greatest(values, some, keep), dtype)]
    return make


def fitting(case, dtype):
    """A type of the result of a sum or product."""
    return case.pick(FLOATS if dtype in FLOATS else FLOATS + INTEGERS)


def cast(values, to):
    return values.astype(np.float64 if to in FLOATS else np.int64)


def product(along):
    def make(case, dtype):
        x, to = an_operand(case, dtype), fitting(case, dtype)
        values, keep = cast(x[4], to), bool(case.random.integers(0, 2))
        kind = DTYPES[to][0]
        if not along:
            want = np.prod(values)
            case.size = np.abs(want) * 4 if to == "f64" else None
            return [x[0], kind, Output(want, to)]
        d = int(case.random.integers(0, max(values.ndim, 1)))
        want = np.prod(values, axis=d, keepdims=keep) if values.ndim else values
        return [x[0], integer(signed(case, d, max(values.ndim, 1))), flag(keep), kind, Output(want, to)]
    return make


def sum_of_numbers(case, dtype):
    x, to = an_operand(case, dtype), fitting(case, dtype)
    keep = bool(case.random.integers(0, 2))
    dims, some = chosen(case, x[4].ndim)
    values = cast(x[4], to)
    want = np.nansum(values, axis=some, keepdims=keep)
    case.size = np.nansum(np.abs(values)) if to in FLOATS else None
    return [x[0], dims, flag(keep), DTYPES[to][0], Output(want, to)]


def sum_or_mean(mean):
    def make(case, dtype):
        x, keep = an_operand(case, dtype), bool(case.random.integers(0, 2))
        to = case.pick(FLOATS) if mean else fitting(case, dtype)
        dims, some = chosen(case, x[4].ndim)
        values = cast(x[4], to)
        count = np.prod([values.shape[d] for d in some]) if mean else 1
        with np.errstate(all="ignore"):
            want = np.sum(values, axis=some, keepdims=keep)
            want = np.divide(want, np.float64(count)) if mean else want
            case.size = np.sum(np.abs(values), axis=some, keepdims=keep) / max(count, 1) if to in FLOATS else None
        if not mean and np.ndim(want) == 0 and case.random.random() < 0.5:
            want = np.reshape(want, (1,))
        return [x[0], dims, flag(keep), DTYPES[to][0], Output(want, to)]
    return make


def norm(with_dtype):
    def make(case, dtype):
        order = case.pick([0.0, 1.0, 2.0, 3.0, 0.5, -1.0, np.inf, -np.inf])
        x = an_operand(case, dtype, order < 0 or np.isinf(order))
        to, keep = case.pick(FLOATS), bool(case.random.integers(0, 2))
        dims, some = chosen(case, x[4].ndim)
        size = np.abs(x[4])
        if np.isinf(order):
            want = (greatest if order > 0 else least)(size, some, keep)
        elif order == 0:
            want = np.sum(size != 0, axis=some, keepdims=keep).astype(np.float64)
        else:
            want = np.power(np.sum(np.power(size, order), axis=some, keepdims=keep), 1 / order)
        # Small errors of the sum of powers become greater.
        case.size = np.abs(want) * 8
        last = [DTYPES[to][0]] if with_dtype else []
        return [x[0], case.device.scalar(order, "f32"), dims, flag(keep), *last, Output(want, to)]
    return make


def deviation(root, with_mean, unbiased=False):
    def make(case, dtype):
        x, to = an_operand(case, dtype, plain=True), case.pick(FLOATS)
        values, keep = x[4], bool(case.random.integers(0, 2))
        dims, some = chosen(case, values.ndim)
        by = int(case.random.integers(0, 2 if unbiased else 4))
        count = np.float64(np.prod([values.shape[d] for d in some]))
        mean = np.sum(values, axis=some, keepdims=True) / count
        squares = np.sum(np.square(values - mean), axis=some, keepdims=keep)
        want = squares / max(count - by, 0.0)
        want = np.sqrt(want) if root else want
        case.size = np.where(np.isfinite(want), np.abs(want) * 8, 0)
        outputs = [Output(want, to)]
        if with_mean:
            size = np.sum(np.abs(values), axis=some, keepdims=keep) / count
            outputs.append(Output(mean if keep else mean.reshape(squares.shape), to, scale=size))
        return [x[0], dims, flag(by) if unbiased else integer(by), flag(keep), *outputs]
    return make


def exact_mean(x, some, keep):
    return np.sum(x.astype(np.float64), axis=some, keepdims=keep) / np.float64(np.prod([x.shape[d] for d in some]))


def log_of_sum(x, some, keep):
    return np.log(np.sum(x.astype(np.float64), axis=some, keepdims=keep))


def log_sum_exp(x, some, keep):
    x = x.astype(np.float64)
    if 0 in x.shape:
        return np.log(np.sum(x, axis=some, keepdims=keep))
    top = np.max(x, axis=some, keepdims=True)
    held = np.where(np.isinf(top), 0, top)
    want = held + np.log(np.sum(np.exp(x - held), axis=some, keepdims=True))
    return want if keep else want.reshape(np.sum(x, axis=some).shape)


def rule(name, maker, types=ALL):
    return Rule("aclnn" + name, "block", maker, types=types)


TRUTHS = ("bool", "bool", "u8")
RULES = [
    rule("Amax", over(greatest, filled=True), EVERY), rule("Amin", over(least, filled=True), EVERY),
    rule("Max", whole(np.max), EVERY), rule("Min", whole(np.min), EVERY),
    rule("MaxV2", over(greatest, filled=True, noop=True), EVERY),
    rule("Aminmax", both_ends("list")), rule("AminmaxDim", both_ends("dim")), rule("AminmaxAll", both_ends("all")),
    rule("All", over(lambda x, some, keep: np.all(x, axis=some, keepdims=keep), TRUTHS, truth=True), EVERY),
    rule("Any", over(lambda x, some, keep: np.any(x, axis=some, keepdims=keep), TRUTHS, truth=True), EVERY),
    rule("MeanV2", over(exact_mean, FLOATS, noop=True)), rule("LogSumExp", over(log_sum_exp, FLOATS)),
    rule("ReduceLogSum", over(log_of_sum, FLOATS, noop=True, positive=True)),
    rule("Prod", product(False)), rule("ProdDim", product(True)), rule("ReduceNansum", sum_of_numbers),
    rule("ReduceSum", sum_or_mean(False), EVERY), rule("Mean", sum_or_mean(True), EVERY),
    rule("Norm", norm(False), FLOATS), rule("LinalgVectorNorm", norm(True), FLOATS),
    rule("Var", deviation(False, False, True), FLOATS), rule("VarCorrection", deviation(False, False), FLOATS),
    rule("Std", deviation(True, False), FLOATS), rule("VarMean", deviation(False, True), FLOATS),
    rule("StdMeanCorrection", deviation(True, True), FLOATS),
]
