"""Products by name, in NumPy. Makers as in named.py; factors may be stored in blocks."""
from device import np

from named import FRACTAL_NZ, NCHW, Call, Wanted, given, rule, tame
from windows import Window, convolved, pick_shape

NARROW = ("f32", "f16", "bf16")


def side(case):
    return int(case.pick([1, 1, 2, 3, 5, 8, 16, 17, 33]))


def factor(case, shape, dtype):
    operand = given(case, case.random.standard_normal(shape), dtype)
    operand.blocks = FRACTAL_NZ if case.random.random() < 0.3 else None
    return operand


def two_factors(case, dtype, lead, names, more_of_second=()):
    """(x, y, their product, the sum of the sizes of its terms, attributes)"""
    m, k, n = side(case), side(case), side(case)
    turns = [bool(t) for t in case.random.integers(0, 2, 2)]
    x = factor(case, (*lead, k, m) if turns[0] else (*lead, m, k), dtype)
    y = factor(case, (*lead, n, k) if turns[1] else (*lead, k, n), dtype)
    a, b = (np.swapaxes(v.numbers, -1, -2) if t else v.numbers for v, t in zip((x, y), turns))
    told = {name: turn for name, turn in zip(names, turns) if turn or case.random.random() < 0.5}
    return x, y, np.matmul(a, b), np.matmul(np.abs(a), np.abs(b)), told


def matmul(most):
    def make(case, dtype):
        x, y, want, size, told = two_factors(case, dtype, (), ("transpose_x1", "transpose_x2"))
        how, bias = case.pick(["none", "left out", "given"]), []
        if how == "given":
            bias = [given(case, case.random.standard_normal(want.shape[-1]), dtype)]
            want, size = want + bias[0].numbers, size + np.abs(bias[0].numbers)
        elif how == "left out":
            bias = [None]
        if bias and most == 4 and case.random.random() < 0.3:
            bias.append(None)
        return Call([x, y, *bias], [Wanted(want, dtype, size)], told, True)
    return make


def batch_matmul(most):
    def make(case, dtype):
        lead = tuple(int(n) for n in case.random.integers(1, 4, int(case.random.integers(0, 3))))
        x, y, want, size, told = two_factors(case, dtype, lead, ("adj_x1", "adj_x2"))
        left_out = [None] * int(case.random.integers(0, most - 1))
        return Call([x, y, *left_out], [Wanted(want, dtype, size)], told, True)
    return make


def convolution(case, dtype):
    """strides and dilations of N, C, H, W; pads of top, bottom, left and right."""
    groups, inner, outer = int(case.pick([1, 1, 2, 3])), *(int(n) for n in case.random.integers(1, 4, 2))
    x = tame(case, (int(case.random.integers(1, 4)), inner * groups, *pick_shape(case, 2, 1, 12)), dtype)
    w = Window(case, x.elements.shape[-2:], False)
    weight = tame(case, (outer * groups, inner, *w.kernel), dtype)
    bias = tame(case, (outer * groups,), dtype) if case.random.random() < 0.5 else None
    want = convolved(case, x.numbers, weight.numbers, None if bias is None else bias.numbers, w, groups)
    told = {"pads": [w.before[0], w.before[0], w.before[1], w.before[1]], "strides": [1, 1, *w.stride]}
    if list(w.dilation) != [1, 1] or case.random.random() < 0.5:
        told["dilations"] = [1, 1, *w.dilation]
    if groups != 1 or case.random.random() < 0.5:
        told["groups"] = groups
    told["data_format"] = "NCHW"
    more = [bias] if bias is not None else case.pick([[], [None], [None, None]])
    return Call([x, weight, *more], [Wanted(want, dtype, case.size)], told, formats=(NCHW,))


RULES = [
    rule("MatMul", matmul(3), NARROW), rule("MatMulV2", matmul(4), NARROW), rule("BatchMatMul", batch_matmul(2), NARROW),
    rule("BatchMatMulV2", batch_matmul(4), NARROW), rule("Conv2D", convolution, NARROW),
]
