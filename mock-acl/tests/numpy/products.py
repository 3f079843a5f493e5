"""Matrix products, in NumPy: a maker takes the case and gives the arguments of the call, in which Expect stands for
what the call writes. Everything is computed in float64 or int64; `slack` of an Expect is what a sum in f32 may be
off, beside the rounding to the type of the result."""
import ctypes
from dataclasses import dataclass

from device import DTYPES, FLOATS, INTEGERS, Failure, contiguous, decode, encode, extent, np, read

from elementwise import Rule

NARROW = ("f32", "f16", "bf16")
STEP = {"f32": 6e-8, "f16": 4.9e-4, "bf16": 4e-3, "f64": 1.2e-16}  # of the result, for one rounding
TINY = {"f32": 1.5e-45, "f16": 6e-8, "bf16": 1e-40, "f64": 5e-324}
LARGEST = {"f32": 3.4028e38, "f16": 65504.0, "bf16": 3.38e38, "f64": 1.79e308}
EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-7, 60000.0]
NMSE = 1e-7


@dataclass
class Expect:
    operand: tuple
    want: np.ndarray
    dtype: str
    slack: object = 0.0


def side(case, large=False):
    return int(case.pick([0, 1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33, 49] + ([64, 100, 129, 300] if large else [64])))


def view_of(case, shape):
    """As Case.view, and now and then a dimension whose elements are all the same one."""
    shape, strides, offset = case.view(shape)
    if shape and case.random.random() < 0.1:
        strides = list(strides)
        strides[int(case.random.integers(len(shape)))] = 0
        case.same = True
    return tuple(shape), tuple(strides), offset


def factor(case, shape, dtype, scale=1.0):
    """An operand of small numbers; one case in five has a few edge values."""
    view = view_of(case, shape)
    values = case.random.standard_normal(extent(view)) * scale
    if values.size and case.random.random() < 0.2:
        values[case.random.integers(0, values.size, 2)] = case.random.choice(EDGES, 2)
    storage = encode(values, dtype)
    handle, address = case.device.tensor(storage, dtype, view)
    return handle, address, storage, view, decode(read(storage, view), dtype)


def types(case):
    first, second = case.pick(NARROW), case.pick(NARROW)
    return (first, first) if case.random.random() < 0.6 else (first, second)


def common(*dtypes):
    return dtypes[0] if len(set(dtypes)) == 1 else "f32"


def finite(values):
    return np.where(np.isfinite(values), np.abs(values), 0)


def product(x, y):
    return np.matmul(x, y), np.matmul(finite(x), finite(y))


def off(case, scale):
    """What a sum may be off; `scale` is the sum of the sizes of its terms. Equal terms all round the same way."""
    return (2e-5 if getattr(case, "same", False) else 2e-6) * np.asarray(scale)


def expect(case, want, dtype, scale):
    return Expect(case.operand(np.shape(want), dtype), np.asarray(want), dtype, off(case, scale))


MATH = ctypes.c_int8


def plain(case, shape_x, shape_y, last=True):
    a, b = types(case)
    x, y = factor(case, shape_x, a), factor(case, shape_y, b)
    want, scale = product(x[4], y[4])
    more = [MATH(int(case.random.integers(0, 4)))] if last else []
    to = case.pick(NARROW) if case.random.random() < 0.3 else common(a, b)
    return [x, y, expect(case, want, to, scale), *more]


def mm(case):
    m, n, k = side(case, True), side(case, True), side(case, True)
    return plain(case, (m, k), (k, n))


def bmm(case):
    batch, m, n, k = int(case.random.integers(0, 4)), side(case), side(case), side(case, True)
    one = case.random.integers(0, 4)
    return plain(case, (1 if one == 1 else batch, m, k), (1 if one == 2 else batch, k, n))


def matmul(case):
    m, n, k = side(case), side(case), side(case, True)
    batch = tuple(int(case.random.integers(1, 4)) for _ in range(case.random.integers(0, 3)))
    x = (k,) if case.random.random() < 0.25 else case.broadcast(batch) + (m, k)
    y = (k,) if case.random.random() < 0.25 else case.broadcast(batch) + (k, n)
    return plain(case, x, y)


def mv(case):
    m, k = side(case, True), side(case, True)
    return plain(case, (m, k), (k,))


def dot(case, dtype):
    k = side(case, True) * 3
    x, y = factor_or_integers(case, (k,), dtype), factor_or_integers(case, (k,), dtype)
    want, scale = product(x[4], y[4])
    return [x, y, expect(case, want, dtype, scale if dtype in FLOATS else 0)]


def factor_or_integers(case, shape, dtype):
    return factor(case, shape, dtype) if dtype in FLOATS else case.operand(shape, dtype)


def addmv_of_others(case, dtype):
    """f64 and integers; with numbers of a float type integers become f32."""
    m, k = side(case), side(case)
    kinds = [dtype, case.pick((dtype, dtype, "s32")), dtype]
    x, y = factor_or_integers(case, (m, k), kinds[0]), factor_or_integers(case, (k,), kinds[1])
    self = factor_or_integers(case, case.broadcast((m,)), kinds[2])
    compute = case.promote(case.promote(*kinds[:2]), kinds[2])
    kind = case.pick(("f32", "s32"))
    beta, alpha = numbers(case) if kind == "f32" else [int(n) for n in case.random.integers(-2, 3, 2)]
    if compute not in FLOATS and kind == "f32":
        compute = "f32"
    if compute == "bool":
        compute = "s32"
    scalars = [case.device.scalar(alpha, kind), case.device.scalar(beta, kind)]
    a, b, c = terms(compute, x[4], y[4], self[4])
    want, scale = product(a, b) if compute in FLOATS else (np.matmul(a, b), 0)
    want = alpha * want + (beta * c if beta != 0 else 0)
    scale = abs(alpha) * scale + (abs(beta) * finite(c) if compute in FLOATS else 0)
    out = expect(case, np.broadcast_to(want, (m,)), compute, scale)
    if compute == "f64":
        out.slack = 1e-13 * np.asarray(scale)
    return [self, x, y, *scalars, out, MATH(0)]


def numbers(case):
    return [float(case.pick([0.0, 1.0, 1.0, -1.0, 0.5, 2.25])) for _ in range(2)]


def added(case, shape_x, shape_y, add_up=False, inplace=False, swapped=False):
    a, b = types(case)
    x, y = factor(case, shape_x, a), factor(case, shape_y, b)
    want, scale = product(x[4], y[4])
    if add_up:
        want, scale = want.sum(0), scale.sum(0)
    beta, alpha = numbers(case)
    c = common(a, b) if inplace else case.pick([common(a, b), "f32"])
    dtype = common(a, b, c)
    self = factor(case, want.shape if inplace else case.broadcast(want.shape), c)
    if inplace:
        self = case.given(read(self[2], self[3]), c)[:4] + (self[4],)
    want, scale = alpha * want, abs(alpha) * scale
    if beta != 0:
        want, scale = want + beta * self[4], scale + np.abs(beta) * finite(self[4])
    scalars = [case.device.scalar(beta, "f32"), case.device.scalar(alpha, "f32")]
    if swapped:
        scalars.reverse()
    if inplace:
        return [Expect(self, want, dtype, off(case, scale)), x, y, *scalars, MATH(1)]
    return [self, x, y, *scalars, expect(case, want, dtype, scale), MATH(0)]


def addmm(case, **more):
    m, n, k = side(case, True), side(case), side(case, True)
    return added(case, (m, k), (k, n), **more)


def baddbmm(case, **more):
    batch, m, n, k = int(case.random.integers(0, 4)), side(case), side(case), side(case)
    return added(case, (batch, m, k), (batch, k, n), **more)


def addmv(case):
    m, k = side(case, True), side(case, True)
    return added(case, (m, k), (k,), swapped=True)


def gemm(case):
    m, n, k = side(case, True), side(case), side(case)
    turns = [bool(case.random.integers(0, 2)) for _ in range(2)]
    self, x, y, _, _, out, math = added(case, (m, k), (k, n))
    beta, alpha = numbers(case)
    want, scale = product(x[4], y[4])
    want, scale = alpha * want, abs(alpha) * scale
    if beta != 0:
        want, scale = want + beta * self[4], scale + np.abs(beta) * finite(self[4])
    out.want, out.slack = want, off(case, scale)
    turned = [again_turned(case, o) if t else o for o, t in zip((x, y), turns)]
    flags = [ctypes.c_int64(int(t)) for t in turns]
    return [*turned, self, ctypes.c_float(alpha), ctypes.c_float(beta), *flags, out, math]


def again_turned(case, operand):
    """The same numbers with the last two dimensions in the other order."""
    dtype = {np.dtype(np.float32): "f32", np.dtype(np.float16): "f16", np.dtype(np.uint16): "bf16"}[operand[2].dtype]
    elements = np.swapaxes(read(operand[2], operand[3]), -1, -2)
    return case.given(elements, dtype)


def outer(case, dtype):
    kinds = [dtype, dtype if case.random.random() < 0.6 else case.pick(FLOATS + INTEGERS + ("bool",))]
    return [factor(case, (side(case),), k) if k in FLOATS else case.operand((side(case),), k) for k in kinds], kinds


def terms(compute, *values):
    kind = np.float64 if compute in FLOATS else np.int64
    narrow = np.float32 if compute in NARROW else kind
    return [np.asarray(v).astype(narrow).astype(kind) for v in values]


def of_pairs(case, kinds, x, y):
    compute = kinds[0]
    for k in kinds[1:]:
        compute = case.promote(compute, k)
    return compute, terms(compute, x, y)


def ger(case, dtype):
    (x, y), kinds = outer(case, dtype)
    compute, (a, b) = of_pairs(case, kinds, x[4], y[4])
    want = a[:, None] * b
    return [x, y, expect(case, want, compute, finite(want) if compute in FLOATS else 0)]


def addr(case, dtype, inplace=False):
    (x, y), kinds = outer(case, dtype)
    shape = (x[3][0][0], y[3][0][0])
    third = case.promote(*kinds)
    self = factor(case, shape if inplace else case.broadcast(shape), third) if third in FLOATS else \
        case.operand(shape if inplace else case.broadcast(shape), third)
    if inplace:
        self = case.given(read(self[2], self[3]), third)[:4] + (self[4],)
    compute, (a, b) = of_pairs(case, kinds + [third], x[4], y[4])
    beta, alpha = numbers(case) if compute in FLOATS else [int(n) for n in case.random.integers(-2, 3, 2)]
    if compute == "bool":
        beta, alpha = abs(beta), abs(alpha)
    want = alpha * (a[:, None] * b)
    scale = finite(want) if compute in FLOATS else 0
    if beta != 0:
        more = beta * terms(compute, self[4])[0]
        want, scale = want + more, scale + (finite(more) if compute in FLOATS else 0)
    want = np.broadcast_to(want, shape)
    kind = "f32" if compute in FLOATS else "s64"
    scalars = [case.device.scalar(beta, kind), case.device.scalar(alpha, kind)]
    if beta == 1 and case.random.random() < 0.5:
        scalars[0] = None
    if inplace:
        return [Expect(self, want, compute, off(case, scale)), x, y, *scalars]
    return [self, x, y, *scalars, expect(case, want, compute, scale)]


# ---- quantised ----

def bytes_of(case, shape, low=-128, high=128):
    view = view_of(case, shape)
    storage = case.random.integers(low, high, extent(view)).astype(np.int8)
    handle, address = case.device.tensor(storage, "s8", view)
    return handle, address, storage, view, read(storage, view).astype(np.int64)


def nibbles_of(case, shape):
    view = view_of(case, shape)
    size = extent(view) + extent(view) % 2
    storage = case.random.integers(-8, 8, size).astype(np.int8)
    packed = (storage[0::2] & 15 | storage[1::2] << 4).astype(np.uint8)
    address = case.device.allocate(packed.nbytes)
    case.device.put(address, packed)
    dims, steps = (ctypes.c_int64 * 2)(*view[0]), (ctypes.c_int64 * 2)(*view[1])
    handle = case.device.lib.aclCreateTensor(dims, ctypes.c_uint64(2), 29, steps, ctypes.c_int64(view[2]), 2,
                                             (ctypes.c_int64 * 1)(size), ctypes.c_uint64(1), address)
    case.device.made.append(("aclDestroyTensor", handle))
    return ctypes.c_void_p(handle), address, storage, view, read(storage, view).astype(np.int64)


def words_of(case, shape):
    """Eight elements of 4 bits in each element of s32."""
    view = view_of(case, (shape[0], shape[1] // 8))
    storage = case.random.integers(-8, 8, extent(view) * 8).reshape(-1, 8)
    words = ((storage & 15).astype(np.uint32) << (4 * np.arange(8, dtype=np.uint32))).sum(1, dtype=np.uint32)
    handle, address = case.device.tensor(words.view(np.int32), "s32", view)
    values = np.stack([read(np.ascontiguousarray(storage[:, i]), view) for i in range(8)], -1).reshape(shape)
    return handle, address, words, view, values.astype(np.int64)


def grid(case, shape, dtype, positive=False):
    values = case.random.uniform(0.01, 0.1, shape) if positive else case.random.integers(-8, 9, shape)
    elements = encode(np.asarray(values, np.float64), dtype)
    given = case.given(elements, dtype)
    return given[:4] + (decode(elements, dtype),)


def weight_quant(case, precise=False):
    dtype, m, n = case.pick(("f16", "bf16")), side(case), side(case) + 1
    group = int(case.pick([0, 0, 32, 64]))
    k = group + int(case.random.integers(1, 100)) if group else side(case, True)
    weight = case.pick((bytes_of, nibbles_of, words_of))
    n = (n + 7) // 8 * 8 if weight is words_of else n
    x, w = factor(case, (m, k), dtype), weight(case, (k, n))
    groups = (k + group - 1) // group if group else 1
    shape = (groups, n) if group else case.pick([(1,), (n,), (1, n)])
    scale, offset = grid(case, shape, dtype, True), grid(case, shape, dtype)
    has_offset, has_bias = case.random.random() < 0.6, case.random.random() < 0.6

    def spread(values):
        return np.repeat(values, group, 0)[:k] if group else np.broadcast_to(values, (k, n))
    dense = (w[4] + (spread(offset[4]) if has_offset else 0)) * spread(scale[4])
    want, size = product(x[4], dense)
    bias = grid(case, (n,), "f32" if dtype == "bf16" and case.random.random() < 0.5 else dtype)
    if has_bias:
        want, size = want + bias[4], size + np.abs(bias[4])
    more = [ctypes.c_int(int(case.random.integers(0, 2)))] if precise else []
    return [x, w, scale, offset if has_offset else None, None, None, bias if has_bias else None, ctypes.c_int(group),
            *more, expect(case, want, dtype, size)]


def packed_scale(case, values):
    """f32 in the lower half of 64 bits."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.int64)
    return case.given(bits, "s64")


def quant_matmul(case, version):
    batch = tuple(int(case.random.integers(1, 3)) for _ in range(case.random.integers(0, 2)))
    m, n, k = side(case), side(case) + 1, int(case.pick([0, 1, 5, 64, 300, 1024, 1500, 2100]))
    turns = [bool(case.random.integers(0, 2)) for _ in range(2)]
    shape_x, shape_y = case.broadcast(batch) + (m, k), case.broadcast(batch) + (k, n)
    flip = [s[:-2] + (s[-1], s[-2]) if t else s for s, t in zip((shape_x, shape_y), turns)]
    x, y = bytes_of(case, flip[0]), bytes_of(case, flip[1])
    a, b = (np.swapaxes(o[4], -1, -2) if t else o[4] for o, t in zip((x, y), turns))
    total = np.matmul(a, b).astype(np.float64)
    shape = case.pick([(1,), (n,)])
    scale = grid(case, shape, case.pick(("f32", "bf16")), True)
    if case.random.random() < 0.3:
        numbers_of = scale[4].astype(np.float32)
        scale = packed_scale(case, numbers_of)[:4] + (numbers_of.astype(np.float64),)
    rows = grid(case, (m,), "f32", True) if version > 3 and case.random.random() < 0.6 else None
    kind = case.pick((None, "s32", "f32", "bf16"))
    bias = None if kind is None else grid(case, (n,), kind)
    want = (total + (bias[4] if kind == "s32" else 0)) * scale[4] * (1 if rows is None else rows[4][:, None])
    want = want + (bias[4] if kind in FLOATS else 0)
    out = expect(case, want, case.pick(("f16", "bf16")), 1e-9 * np.abs(want))
    flags = [ctypes.c_bool(t) for t in turns]
    if version == 3:
        return [x, y, scale, None, bias, *flags, out]
    if version == 4:
        return [x, y, scale, None, rows, bias, *flags, out]
    return [x, y, rows, scale, None, None, None, None, bias, *flags, ctypes.c_int64(0), out]


# ---- triangles ----

def triangular_solve(case, dtype):
    m, n = side(case), side(case)
    batch = tuple(int(case.random.integers(1, 4)) for _ in range(case.random.integers(0, 3)))
    upper, turned, unit = (bool(case.random.integers(0, 2)) for _ in range(3))
    shape = case.broadcast(batch) + (m, m)
    matrix = case.random.standard_normal(shape) * 0.5 / np.sqrt(max(m, 1))
    diagonal = np.arange(m)
    matrix[..., diagonal, diagonal] = np.sign(matrix[..., diagonal, diagonal]) * case.random.uniform(1, 2)
    stored = np.triu(matrix) if upper else np.tril(matrix)
    # What is not read may be anything.
    elements = np.where(np.triu(np.ones((m, m), bool), 1).T if upper else np.triu(np.ones((m, m), bool), 1), np.nan,
                        stored)
    if unit:
        elements[..., diagonal, diagonal] = np.nan
    elements = encode(elements, dtype)
    exact = np.where(np.isnan(elements), 0, elements).astype(np.float64)
    if unit:
        exact[..., diagonal, diagonal] = 1
    a = case.given(elements, dtype)
    right = case.operand(case.broadcast(batch) + (m, n), dtype)
    right = grid(case, right[3][0], dtype)
    if turned:
        exact = np.swapaxes(exact, -1, -2)
    full = np.broadcast_shapes(exact.shape[:-2], right[4].shape[:-2])
    want = np.linalg.solve(np.broadcast_to(exact, full + (m, m)), np.broadcast_to(right[4], full + (m, n)))
    size = np.abs(want).max(-2, keepdims=True) if m else 0
    slack = (1e-6 if dtype == "f32" else 1e-13) * np.broadcast_to(size, want.shape)
    copy = np.broadcast_to(decode(elements, dtype), full + (m, m))
    flags = [ctypes.c_bool(b) for b in (upper, turned, unit)]
    return [right, a, *flags, Expect(case.operand(want.shape, dtype), want, dtype, slack),
            Expect(case.operand(copy.shape, dtype), copy, dtype)]


def judge(case, item):
    """'' or what is wrong with what stands where the Expect says."""
    before, view, dtype = item.operand[2], item.operand[3], item.dtype
    after = case.device.get(item.operand[1], before)
    inside = np.zeros(before.size, bool)
    if 0 not in view[0]:
        np.lib.stride_tricks.as_strided(inside[view[2]:], view[0], view[1])[...] = True
    if not np.array_equal(after[~inside].view(np.uint8), before[~inside].view(np.uint8)):
        return "wrote outside of the output's view"
    got, want = decode(read(after, view), dtype), np.broadcast_to(item.want, view[0])
    if dtype not in FLOATS:
        expected = decode(encode(want, dtype), dtype)
        return "" if np.array_equal(got, expected) else case.first(got != expected, got, expected)
    slack = np.broadcast_to(item.slack, view[0])
    with np.errstate(all="ignore"):
        rounded = decode(encode(want, dtype), dtype)
        good = np.abs(got - want) <= slack + STEP[dtype] * 1.01 * np.abs(want) + TINY[dtype]
        good |= (got == rounded) | (np.isnan(got) & np.isnan(want))
        # An overflow may be on either side of the largest number.
        good |= (np.abs(got) >= LARGEST[dtype]) & (np.abs(want) + slack >= LARGEST[dtype] * 0.999)
        if not good.all():
            return case.first(~good, got, rounded)
        there = np.isfinite(got) & np.isfinite(rounded)
        if dtype == "f32" and there.any():
            error = np.square(got[there] - rounded[there]).mean()
            # Where cancellation left next to nothing, relative to a thousandth of the terms.
            power = max(np.square(rounded[there]).mean(), np.square(slack[there] * 500).mean())
            if error > NMSE * power:
                return f"mean square error {error / power:.2e}"
    return ""


def run(case):
    maker, parameters = case.rule.reference, case.rule.numbers
    with np.errstate(all="ignore"):
        chosen = (case.pick(case.rule.types),) if case.rule.types else ()
        arguments = maker(case, *chosen, **dict(parameters))
    operands = [a.operand if isinstance(a, Expect) else a for a in arguments]
    case.device.run(case.rule.name, *(o[0] if isinstance(o, tuple) else o for o in operands))
    for item in arguments:
        problem = judge(case, item) if isinstance(item, Expect) else ""
        if problem:
            raise Failure(problem)


def rule(name, maker, kinds=(), **parameters):
    return Rule("aclnn" + name, "product", maker, types=kinds, numbers=tuple(parameters.items()))


RULES = [
    rule("Mm", mm), rule("BatchMatMul", bmm), rule("Matmul", matmul), rule("Mv", mv),
    rule("Dot", dot, NARROW + ("s8", "u8", "s32")),
    rule("Addmm", addmm), rule("InplaceAddmm", addmm, inplace=True),
    rule("Baddbmm", baddbmm), rule("InplaceBaddbmm", baddbmm, inplace=True),
    rule("Addbmm", baddbmm, add_up=True), rule("InplaceAddbmm", baddbmm, add_up=True, inplace=True),
    rule("Addmv", addmv), rule("Addmv", addmv_of_others, ("f64", "bool") + INTEGERS),
    rule("Gemm", gemm),
    rule("Ger", ger, FLOATS + INTEGERS + ("bool",)), rule("Addr", addr, FLOATS + INTEGERS + ("bool",)),
    rule("InplaceAddr", addr, FLOATS + INTEGERS + ("bool",), inplace=True),
    rule("WeightQuantBatchMatmulV2", weight_quant), rule("WeightQuantBatchMatmulV3", weight_quant, precise=True),
    *(rule(f"QuantMatmulV{v}", quant_matmul, version=v) for v in (3, 4, 5)),
    rule("TriangularSolve", triangular_solve, ("f32", "f64")),
]
