"""Softmax, norms, gates and losses, in NumPy. Makers as in blocks.py."""
import ctypes
from math import erfc

from device import np

from blocks import NARROW, shape_of
from elementwise import Rule, sigmoid
from moves import integer, signed
from orders import Output
from reductions import flag, rounded


def soft(logarithm):
    def make(case, dtype):
        x = case.operand(shape_of(case), dtype)
        d, to = int(case.random.integers(0, x[4].ndim)), case.pick(NARROW)
        values = x[4]
        if 0 in values.shape:
            want = values
        else:
            off = values - values.max(d, keepdims=True)
            sums = np.exp(off).sum(d, keepdims=True)
            want = off - np.log(sums) if logarithm else np.exp(off) / sums
            # The distance to the greatest is rounded to f32 before it becomes an exponent.
            size = np.abs(off) + np.abs(np.log(sums)) + 1e-8 if logarithm else want * (1 + np.abs(off))
            case.size = np.where(np.isfinite(size), size, 0)
        return [x[0], integer(signed(case, d, values.ndim)), Output(want, to)]
    return make


def layer_norm(mode):
    def make(case, dtype):
        shape = shape_of(case)
        inner = int(case.random.integers(1, len(shape) + 1))
        x = tame(case, shape, dtype)
        some = [tame(case, shape[-inner:], dtype) if case.random.random() < 0.7 else None for _ in range(2)]
        axes = tuple(range(len(shape) - inner, len(shape)))
        count = np.float64(np.prod(shape[-inner:]))
        mean = x[4].sum(axes, keepdims=True) / count
        rstd = 1 / np.sqrt(np.square(x[4] - mean).sum(axes, keepdims=True) / count + 1e-3)
        scaled = np.broadcast_to((np.abs(x[4]) + np.abs(mean)) * rstd, shape)
        want = (x[4] - mean) * rstd
        for s, step in zip(some, (np.multiply, np.add)):
            want = want if s is None else step(want, s[4])
        weight = 1 if some[0] is None else np.abs(some[0][4])
        case.size = scaled * weight + (0 if some[1] is None else np.abs(some[1][4]))
        size = np.broadcast_to(np.abs(x[4]).sum(axes, keepdims=True) / count, mean.shape)
        outputs = [Output(want, dtype), Output(mean, "f32", scale=size), Output(rstd, "f32")]
        last = [ctypes.c_int32(int(case.random.integers(0, 3)))] if mode else []
        return [x[0], case.device.ints(shape[-inner:]), *(s and s[0] for s in some), ctypes.c_double(1e-3),
                *outputs, *last]
    return make


def tame(case, shape, dtype, positive=False):
    """Values without NaN, infinities and overflows."""
    values = np.clip(np.nan_to_num(case.values(int(np.prod(shape)), dtype)), -50, 50).reshape(shape)
    return rounded(case, np.abs(values) if positive else values, dtype)


def some_of(case, count, dtype):
    """An operand of one dimension, or none."""
    return tame(case, (count,), dtype) if case.random.random() < 0.7 else None


def along(values, axis, rank):
    """A line that broadcasts along an axis."""
    return values.reshape([-1 if d == axis else 1 for d in range(rank)])


def affine(case, normed, size, weight, bias, axis=1):
    rank = normed.ndim
    if weight is not None:
        normed, size = normed * along(weight[4], axis, rank), size * np.abs(along(weight[4], axis, rank))
    if bias is not None:
        normed, size = normed + along(bias[4], axis, rank), size + np.abs(along(bias[4], axis, rank))
    case.size = size
    return normed


def handle(operand):
    return None if operand is None else operand[0]


def group_norm(kind):
    def make(case, dtype):
        shape = shape_of(case, 2)
        group = int(case.pick([g for g in range(1, shape[1] + 1) if shape[1] % g == 0] or [3]))
        x, weight, bias = tame(case, shape, dtype), some_of(case, shape[1], dtype), some_of(case, shape[1], dtype)
        parts = x[4].reshape(shape[0], group, shape[1] // group, *shape[2:])
        axes = tuple(range(2, parts.ndim))
        count = np.float64(np.prod(parts.shape[2:]))
        mean = parts.sum(axes, keepdims=True) / count
        rstd = 1 / np.sqrt(np.square(parts - mean).sum(axes, keepdims=True) / count + 1e-3)
        size = ((np.abs(parts) + np.abs(mean)) * rstd).reshape(shape)
        want = affine(case, ((parts - mean) * rstd).reshape(shape), size, weight, bias)
        silu = kind == "silu" or (kind == "v2" and bool(case.random.integers(0, 2)))
        want = want * sigmoid(want) if silu else want
        middle = {"plain": [integer(n) for n in (shape[0], shape[1], int(np.prod(shape[2:])))]}.get(kind, [])
        average = np.broadcast_to(np.abs(parts).sum(axes) / count, (shape[0], group))
        return [x[0], handle(weight), handle(bias), *middle, integer(group), ctypes.c_double(1e-3),
                *([flag(silu)] if kind == "v2" else []), Output(want, dtype),
                Output(mean.reshape(shape[0], group), "f32", scale=average),
                Output(rstd.reshape(shape[0], group), case.pick(["f32", dtype]))]
    return make


def instance_norm(case, dtype):
    shape = tuple(int(n) for n in case.random.choice([0, 1, 2, 3, 5, 8], 4, p=[.03, .2, .2, .2, .2, .17]))
    last = bool(case.random.integers(0, 2))
    axes, axis = ((1, 2), 3) if last else ((2, 3), 1)
    x, weight, bias = tame(case, shape, dtype), *(tame(case, (shape[axis],), dtype) for _ in range(2))
    count = np.float64(np.prod([shape[d] for d in axes]))
    mean = x[4].sum(axes, keepdims=True) / count
    variance = np.square(x[4] - mean).sum(axes, keepdims=True) / count
    rstd = 1 / np.sqrt(variance + 1e-3)
    want = affine(case, (x[4] - mean) * rstd, (np.abs(x[4]) + np.abs(mean)) * rstd, weight, bias, axis)
    average = np.abs(x[4]).sum(axes, keepdims=True) / count
    return [x[0], weight[0], bias[0], ctypes.c_char_p(b"NHWC" if last else b"NCHW"), ctypes.c_double(1e-3),
            Output(want, dtype), Output(mean, "f32", scale=average), Output(variance, "f32")]


def first_scale(case, outputs):
    """The output that is compared first has its scale in the case."""
    case.size = next(o.scale for o in outputs if o is not None)


def batch_training(case, dtype):
    shape = shape_of(case, 2)
    while 0 in shape:
        shape = shape_of(case, 2)
    x, weight, bias = tame(case, shape, dtype), some_of(case, shape[1], dtype), some_of(case, shape[1], "f32")
    old = [tame(case, (shape[1],), "f32", positive) for positive in (False, True)]
    axes = (0, *range(2, len(shape)))
    count = np.float64(np.prod([shape[d] for d in axes]))
    mean = x[4].sum(axes) / count
    variance = np.square(x[4] - along(mean, 1, len(shape))).sum(axes) / count
    rstd = 1 / np.sqrt(variance + 1e-3)
    m, s = along(mean, 1, len(shape)), along(rstd, 1, len(shape))
    want = affine(case, (x[4] - m) * s, (np.abs(x[4]) + np.abs(m)) * s, weight, bias)
    size = np.abs(x[4]).sum(axes) / count
    unbiased = variance * count / (count - 1) if count > 1 else 0 * variance
    running = []
    for kept, new, scale in zip(old, (mean, unbiased), (size, unbiased)):
        after = 0.75 * kept[4] + 0.25 * new
        there = case.random.random() < 0.8
        running.append(Output(after, "f32", kept, 0.75 * np.abs(kept[4]) + scale) if there else None)
    outputs = [Output(want, dtype, scale=case.size), Output(mean, "f32", scale=size), Output(rstd, "f32")]
    first_scale(case, running + outputs)
    return [x[0], handle(weight), handle(bias), *running, flag(True), ctypes.c_double(0.25), ctypes.c_double(1e-3),
            *outputs]


def batch_backward(case, dtype):
    shape = shape_of(case, 2)
    while 0 in shape:
        shape = shape_of(case, 2)
    training, rank = bool(case.random.integers(0, 2)), len(shape)
    g, x = tame(case, shape, dtype), tame(case, shape, dtype)
    weight = some_of(case, shape[1], case.pick(["f32", dtype]))
    mean, spread = tame(case, (shape[1],), "f32"), tame(case, (shape[1],), "f32", True)
    scale = along(spread[4] if training else 1 / np.sqrt(spread[4] + 1e-3), 1, rank)
    axes = (0, *range(2, rank))
    count = np.float64(np.prod([shape[d] for d in axes]))
    normed = (x[4] - along(mean[4], 1, rank)) * scale
    wide = (np.abs(x[4]) + np.abs(along(mean[4], 1, rank))) * scale
    products, sizes = (g[4] * normed).sum(axes), (np.abs(g[4]) * wide).sum(axes)
    grads, plain = g[4].sum(axes), np.abs(g[4]).sum(axes)
    w = 1 if weight is None else along(weight[4], 1, rank)
    want, size = g[4], np.abs(g[4])
    if training:
        want = want - (along(grads, 1, rank) + normed * along(products, 1, rank)) / count
        size = size + (along(plain, 1, rank) + wide * along(sizes, 1, rank)) / count
    results = [Output(want * scale * w, dtype, scale=size * scale * np.abs(w)),
               Output(products, "f32", scale=sizes), Output(grads, "f32", scale=plain)]
    mask = [case.random.random() < 0.8 for _ in results]
    if not any(mask):
        mask[0] = True
    results = [r if wanted else None for r, wanted in zip(results, mask)]
    first_scale(case, results)
    unused = [None, None]
    used = [mean[0], spread[0]]
    return [g[0], x[0], handle(weight), *(unused + used if training else used + unused), flag(training),
            ctypes.c_double(1e-3), case.device.bools(mask), *results]


def soft_loss(case, dtype):
    rows, classes = int(case.random.integers(0, 9)), int(case.random.integers(1, 9))
    x, labels = tame(case, (rows, classes), dtype), tame(case, (rows, classes), dtype, True)
    off = x[4] - x[4].max(1, keepdims=True)
    sums = np.exp(off).sum(1, keepdims=True)
    case.size = (np.abs(labels[4]) * (np.abs(off) + np.abs(np.log(sums)) + 1e-8)).sum(1)
    want, soft = (labels[4] * (np.log(sums) - off)).sum(1), np.exp(off) / sums
    return [x[0], labels[0], Output(want, dtype), Output(soft - labels[4], dtype, scale=soft + np.abs(labels[4]))]


def batch_norm(given):
    def make(case, dtype):
        if not given and case.random.random() < 0.5:
            return batch_training(case, dtype)
        shape = shape_of(case, 2)
        x, weight, bias = tame(case, shape, dtype), some_of(case, shape[1], dtype), some_of(case, shape[1], "f32")
        positive = not given or case.random.random() < 0.5
        mean, spread = tame(case, (shape[1],), "f32"), tame(case, (shape[1],), case.pick(NARROW), positive)
        # The sign of an inverse deviation is lost.
        scale = np.abs(spread[4]) if given else 1 / np.sqrt(spread[4] + 1e-3)
        m, s = along(mean[4], 1, len(shape)), along(scale, 1, len(shape))
        want = affine(case, (x[4] - m) * s, (np.abs(x[4]) + np.abs(m)) * s, weight, bias)
        before = [x[0], handle(weight), handle(bias), mean[0], spread[0]]
        if given:
            return [*before, ctypes.c_double(1e-3), Output(want, dtype)]
        return [*before, flag(False), ctypes.c_double(0.1), ctypes.c_double(1e-3), Output(want, dtype), None, None]
    return make


def gelu(x, tanh):
    if tanh:
        return x * sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))
    return 0.5 * x * np.vectorize(erfc, otypes=[np.float64])(-x / np.sqrt(2))


def gated(kind):
    def make(case, dtype):
        shape = list(shape_of(case))
        d = int(case.random.integers(0, len(shape)))
        shape[d] *= 2
        x = case.operand(tuple(shape), dtype)
        a, b = np.split(x[4], 2, d)
        tanh, left = case.random.integers(0, 2, 2)
        dim = integer(signed(case, d, len(shape)))
        if kind == "glu":
            return [x[0], dim, Output(a * sigmoid(b), dtype)]
        if kind == "v3" and left:
            a, b = b, a
        gate = gelu(b, tanh)
        return [x[0], dim, integer(tanh), *([flag(left)] if kind == "v3" else []), Output(a * gate, dtype),
                Output(gate, dtype)]
    return make


def loss(logits):
    def make(case, dtype):
        rows, classes = (int(n) for n in case.random.integers(1, 9, 2))
        flat = not logits and case.random.random() < 0.2
        rows = 1 if flat else int(case.random.integers(0, 9))
        x = tame(case, (classes,) if flat else (rows, classes), dtype)
        ignored = case.pick([-100, 0, 2])
        target = case.random.integers(0, classes, rows)
        target = np.where((case.random.random(rows) < 0.2), ignored, target)
        places = case.given(target.reshape(()) if flat and case.random.random() < 0.5 else target,
                            case.pick(["s32", "s64"]))
        weight = tame(case, (classes,), "f32", True) if not logits or case.random.random() < 0.6 else None
        w = np.ones(classes) if weight is None else weight[4]
        values = x[4].reshape(rows, classes)
        if logits:
            off = values - values.max(1, keepdims=True)
            values = off - np.log(np.exp(off).sum(1, keepdims=True))
        counts = target != ignored
        named = np.where(counts, target, 0)
        smooth = case.pick([0.0, 0.0, 0.1, 1.0]) if logits else 0.0
        each = (1 - smooth) * w[named] * -values[np.arange(rows), named] + smooth / classes * (w * -values).sum(1)
        each, total = np.where(counts, each, 0), np.where(counts, w[named], 0).sum()
        size = np.where(counts, (w * np.abs(values)).sum(1), 0)
        way = int(case.random.integers(0, 3))
        want = [each, each.sum() / total, each.sum()][way]
        case.size = [size, size.sum() / total, size.sum()][way]
        case.size = np.where(np.isfinite(case.size), case.size, 0).reshape(-1)
        one = case.pick([(), (1,)]) if way or flat else (rows,)
        want = np.asarray(want).reshape(one)
        case.size = case.size.reshape(one)
        if logits:
            text = [b"none", b"mean", b"sum"][way]
            text = None if text == b"mean" and case.random.random() < 0.3 else ctypes.c_char_p(text)
            return [x[0], places[0], handle(weight), text, integer(ignored), ctypes.c_double(smooth),
                    ctypes.c_double(0), flag(False), Output(want, case.pick(["f32", dtype])),
                    Output(values, dtype, scale=np.abs(x[4]).max() if x[4].size else 0), None, None]
        return [x[0], places[0], weight[0], integer(way), integer(ignored), Output(want, dtype),
                Output(np.asarray(total).reshape(case.pick([(), (1,)])), "f32")]
    return make


def rule(name, maker, types=NARROW):
    return Rule("aclnn" + name, "block", maker, types=types)


RULES = [
    rule("Softmax", soft(False)), rule("LogSoftmax", soft(True)), rule("LayerNorm", layer_norm(False)),
    rule("FastLayerNorm", layer_norm(False)), rule("LayerNormWithImplMode", layer_norm(True)),
    rule("GroupNorm", group_norm("plain")), rule("GroupNormSilu", group_norm("silu")),
    rule("GroupNormSiluV2", group_norm("v2")), rule("InstanceNorm", instance_norm),
    rule("BatchNorm", batch_norm(False)), rule("BatchNormElemt", batch_norm(True)),
    rule("BatchNormBackward", batch_backward), rule("SoftmaxCrossEntropyWithLogits", soft_loss),
    rule("GeGlu", gated("v1")), rule("GeGluV3", gated("v3")), rule("Glu", gated("glu")),
    rule("CrossEntropyLoss", loss(True)), rule("NLLLoss", loss(False)),
]
