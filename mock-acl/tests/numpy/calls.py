"""Calls of any form: a maker takes the case and gives the arguments, in which Expect stands for a tensor that the call
writes, and a list of tensors or of Expects for a tensor list."""
from dataclasses import dataclass, field

from device import DTYPES, FLOATS, INTEGERS, Failure, decode, np, read

from elementwise import Rule

EVERY = FLOATS + INTEGERS + ("bool",)


@dataclass
class Expect:
    operand: tuple  # as Case.operand gives it
    want: np.ndarray
    dtype: str
    scale: object = None
    loose: np.ndarray = field(default=None)  # where anything may stand


def output(case, want, dtype, scale=None):
    return Expect(case.operand(np.shape(want), dtype), want, dtype, scale)


def rule(name, maker, types=EVERY, **more):
    return Rule("aclnn" + name, "call", maker, types=types, **more)


def handle(argument):
    if isinstance(argument, Expect):
        return argument.operand[0]
    return argument[0] if isinstance(argument, tuple) else argument


def passed(case, argument):
    if isinstance(argument, list):
        return case.device.tensor_list([handle(a) for a in argument])
    return handle(argument)


def got(case, expect):
    """What stands there now; nothing outside of the view may have changed."""
    before, view = expect.operand[2], expect.operand[3]
    after = case.device.get(expect.operand[1], before)
    inside = np.zeros(before.size, bool)
    if 0 not in view[0]:
        np.lib.stride_tricks.as_strided(inside[view[2]:], view[0], view[1])[...] = True
    if not np.array_equal(after[~inside].view(np.uint8), before[~inside].view(np.uint8)):
        raise Failure("wrote outside of the output's view")
    found = decode(read(after, view), expect.dtype)
    if expect.loose is not None:
        found = np.where(expect.loose, expect.want, found)
    return found


def run(case):
    with np.errstate(all="ignore"):
        arguments = case.rule.reference(case, case.pick(case.rule.types))
    case.device.run(case.rule.name, *(passed(case, a) for a in arguments))
    flat = [b for a in arguments for b in (a if isinstance(a, list) else [a]) if isinstance(b, Expect)]
    for expect in flat[1:]:
        problem = case.compare(got(case, expect), expect.want, expect.dtype, expect.scale)
        if problem:
            raise Failure(problem)
    return got(case, flat[0]), flat[0].want, flat[0].dtype, flat[0].scale


def element(dtype):
    """The NumPy type that numbers of a type are computed in."""
    return np.float64 if dtype in FLOATS else np.int64


def bits(dtype):
    return DTYPES[dtype][1]
