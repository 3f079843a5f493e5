"""Operators that order a dimension or look for an end of it, in NumPy.

A maker takes the case, self, its elements and their type, and gives the arguments of the call, in which Output stands
for an output, filled with the elements that have to come.
"""
import ctypes
from dataclasses import dataclass

from device import DTYPES, FLOATS, INTEGERS, np

from elementwise import Rule
from moves import integer, signed

ALL = FLOATS + INTEGERS


@dataclass
class Output:
    want: np.ndarray
    dtype: str
    operand: tuple = None  # where it goes, for what is changed in place
    scale: np.ndarray = None  # what rounding errors are relative to, where it is not the result


def key(values, descending):
    """What sorts as the values do: NaN counts as the greatest."""
    _, inverse = np.unique(values, return_inverse=True, equal_nan=True)
    ranks = inverse.reshape(values.shape)
    return -ranks if descending else ranks


def places(values, axis, descending):
    return np.argsort(key(values, descending), axis, kind="stable")


def an_axis(case, values):
    return int(case.random.integers(0, values.ndim))


def sort(case, x, values, dtype):
    d, descending = an_axis(case, values), bool(case.random.integers(0, 2))
    at = places(values, d, descending)
    return [x, ctypes.c_bool(True), integer(signed(case, d, values.ndim)), ctypes.c_bool(descending),
            Output(np.take_along_axis(values, at, d), dtype), Output(at, "s64")]


def argsort(case, x, values, dtype):
    d, descending = an_axis(case, values), bool(case.random.integers(0, 2))
    return [x, integer(signed(case, d, values.ndim)), ctypes.c_bool(descending),
            Output(places(values, d, descending), "s64")]


def topk(case, x, values, dtype):
    d, largest = an_axis(case, values), bool(case.random.integers(0, 2))
    k = int(case.random.integers(0, values.shape[d] + 1))
    at = np.take(places(values, d, largest), range(k), d)
    return [x, integer(k), integer(signed(case, d, values.ndim)), ctypes.c_bool(largest), ctypes.c_bool(True),
            Output(np.take_along_axis(values, at, d), dtype), Output(at, "s64")]


def end(greatest, with_values):
    def make(case, x, values, dtype):
        d, keep = an_axis(case, values), bool(case.random.integers(0, 2))
        if values.shape[d] == 0:
            values, x = np.zeros((2,) * values.ndim), None
        at = np.expand_dims((np.argmax if greatest else np.argmin)(values, d), d)
        found = np.take_along_axis(values, at, d)
        if not keep:
            at, found = at.squeeze(d), found.squeeze(d)
        x = x or case.given(values, dtype)[0]
        outputs = [Output(found, dtype)] if with_values else []
        return [x, integer(signed(case, d, values.ndim)), ctypes.c_bool(keep), *outputs,
                Output(at, "s64" if with_values else case.pick(["s64", "s32"]))]
    return make


def cumsum(case, x, values, dtype):
    d = an_axis(case, values)
    with np.errstate(all="ignore"):
        total = np.cumsum(values, d)
    return [x, integer(signed(case, d, values.ndim)), DTYPES[dtype][0], Output(total, dtype)]


def order(name, maker, types=ALL, **more):
    return Rule("aclnn" + name, "order", maker, types=types, **more)


RULES = [
    order("Sort", sort), order("Argsort", argsort), order("Topk", topk), order("ArgMax", end(True, False)),
    order("ArgMin", end(False, False)), order("MaxDim", end(True, True)), order("MinDim", end(False, True)),
    order("Cumsum", cumsum, scale=lambda x: np.abs(x).sum() if x.size else 0),
]
