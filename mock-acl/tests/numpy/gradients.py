"""Losses and gradients, in NumPy: sums over places in the order of the formulas; makers as in calls.py."""
import ctypes
import itertools

from calls import output, rule
from device import decode, encode, np
from moves import integer

NARROW = ("f32", "f16", "bf16")
NONE, MEAN, SUM = 0, 1, 2


def small(case, shape, dtype, low=-2.0, high=2.0):
    elements = encode(case.random.uniform(low, high, shape), dtype)
    return (*case.given(elements, dtype)[:4], decode(elements, dtype))


def flag(value):
    return ctypes.c_bool(bool(value))


# ---- softmax, layer norm ----

def softmax_backward(logarithms):
    def make(case, dtype):
        shape = case.shape()
        dim = int(case.random.integers(0, max(len(shape), 1)))
        grad, y = small(case, shape, dtype), small(case, shape, dtype, 0, 1)
        g, v = (np.atleast_1d(x[4]) for x in (grad, y))
        if logarithms:
            want = g - np.exp(v) * g.sum(dim, keepdims=True)
            size = np.abs(g) + np.exp(v) * np.abs(g).sum(dim, keepdims=True)
        else:
            want = v * (g - (g * v).sum(dim, keepdims=True))
            size = v * (np.abs(g) + np.abs(g * v).sum(dim, keepdims=True))
        return [grad, y, integer(dim - len(shape) if shape and case.random.random() < 0.5 else dim),
                output(case, want.reshape(shape), dtype, size.reshape(shape))]
    return make


def masked(case, results):
    """A mask, and the results that it leaves; now and then all."""
    mask = [bool(case.random.random() < 0.8) for _ in results]
    return case.device.bools(mask), [r() if m else None for m, r in zip(mask, results)]


def layer_norm_backward(case, dtype):
    shape = case.shape()
    while not shape or 0 in shape:
        shape = case.shape()
    inner = int(case.random.integers(1, len(shape) + 1))
    lead, axes = len(shape) - inner, tuple(range(len(shape) - inner, len(shape)))
    grad, x = small(case, shape, dtype), small(case, shape, dtype)
    ones = shape[:lead] + (1,) * inner
    mean, rstd = small(case, ones, "f32"), small(case, ones, "f32", 0.5, 2)
    weight = small(case, shape[lead:], dtype) if case.random.random() < 0.7 else None
    scaled = grad[4] * (1 if weight is None else weight[4])
    x_hat = (x[4] - mean[4]) * rstd[4]
    means = [part.mean(axes, keepdims=True) for part in (scaled, scaled * x_hat)]
    want = rstd[4] * (scaled - means[0] - x_hat * means[1])
    size = rstd[4] * (np.abs(scaled) + np.abs(scaled).mean(axes, keepdims=True) * (1 + np.abs(x_hat) * 6))
    rows = tuple(range(lead))
    mask, results = masked(case, [
        lambda: output(case, want, dtype, size),
        lambda: output(case, (grad[4] * x_hat).sum(rows), dtype, np.abs(grad[4] * x_hat).sum(rows)),
        lambda: output(case, grad[4].sum(rows), dtype, np.abs(grad[4]).sum(rows))])
    if not any(results):
        return layer_norm_backward(case, dtype)
    return [grad, x, case.device.ints(shape[lead:]), mean, rstd, weight, weight, mask, *results]


# ---- losses ----

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# The loss of x and t, and its slope along x.
PAIRS = {
    "Mse": (lambda x, t, beta, pos: (x - t)**2, lambda x, t, beta, pos: 2 * (x - t)),
    "L1": (lambda x, t, beta, pos: np.abs(x - t), lambda x, t, beta, pos: np.sign(x - t)),
    "SmoothL1": (lambda x, t, beta, pos: np.where(np.abs(x - t) < beta, (x - t)**2 / (2 * beta), np.abs(x - t) - beta / 2),
                 lambda x, t, beta, pos: np.clip((x - t) / beta, -1, 1)),
    "BinaryCrossEntropy": (lambda x, t, beta, pos: -t * np.log(x) - (1 - t) * np.log(1 - x),
                           lambda x, t, beta, pos: (x - t) / (x * (1 - x))),
    "BinaryCrossEntropyWithLogits": (
        lambda x, t, beta, pos: -pos * t * np.log(sigmoid(x)) - (1 - t) * np.log(1 - sigmoid(x)),
        lambda x, t, beta, pos: (1 - t) * sigmoid(x) - pos * t * (1 - sigmoid(x))),
}


def pair_loss(name, backward):
    loss, slope = PAIRS[name]

    def make(case, dtype):
        shape = case.shape()
        entropy, logits = name.startswith("Binary"), name.endswith("Logits")
        x = small(case, shape, dtype, 0.1, 0.9) if entropy and not logits else small(case, shape, dtype)
        t = small(case, case.broadcast(shape), dtype, 0, 1) if entropy else small(case, case.broadcast(shape), dtype)
        beta = case.pick([0.25, 1.0])
        weights = [small(case, case.broadcast(shape), dtype, 0, 2) if case.random.random() < 0.5 else None
                   for _ in range(entropy + logits)]
        factor = weights[0][4] if weights and weights[0] else 1
        positive = weights[1][4] if logits and weights[1] else 1
        reduction = case.pick([NONE, MEAN, SUM])
        count = np.prod(shape)
        last = [ctypes.c_float(beta)] if name == "SmoothL1" else []
        if not backward:
            each = np.broadcast_to(loss(x[4], t[4], beta, positive) * factor, shape)
            want = each if reduction == NONE else each.sum() / (count if reduction == MEAN else 1)
            size = np.abs(each) + 1 if reduction == NONE else np.abs(each).sum() + count
            return [x, t, *weights, integer(reduction), *last, output(case, want, dtype, size)]
        grad = small(case, shape if reduction == NONE else case.pick([(), (1,) if shape else ()]), dtype)
        spread = grad[4] if reduction == NONE else grad[4].reshape(())
        want = slope(x[4], t[4], beta, positive) * factor * spread / (count if reduction == MEAN else 1)
        return [grad, x, t, *weights, integer(reduction), *last,
                output(case, np.broadcast_to(want, shape), dtype, np.broadcast_to(np.abs(want) + np.abs(spread), shape))]
    return make


def nll_backward(case, dtype):
    rows, classes = case.pick([None, 1, 4, 9]), int(case.random.integers(1, 9))
    shape = (classes,) if rows is None else (rows, classes)
    x, weight = small(case, shape, dtype), small(case, (classes,), dtype, 0, 2)
    ignored = int(case.pick([-100, 0]))
    count = 1 if rows is None else rows
    named = case.random.integers(0, classes, count)
    named = np.where(case.random.random(count) < 0.2, ignored, named)
    reduction = case.pick([NONE, MEAN, SUM])
    grad = small(case, (rows,) if rows and reduction == NONE else case.pick([(), (1,)]), dtype)
    total = small(case, case.pick([(), (1,)]), dtype, 1, 3)
    each = np.broadcast_to(grad[4].reshape(-1), (count,)) / (total[4].reshape(()) if reduction == MEAN else 1)
    want = np.zeros((count, classes))
    for row, name in enumerate(named):
        if name != ignored:
            want[row, name] = -weight[4][name] * each[row]
    kind = case.pick(("s32", "s64"))
    return [grad, x, case.given(named, kind), weight, integer(reduction), integer(ignored), total,
            output(case, want.reshape(shape), dtype)]


# ---- windows ----

def windows(case, planes):
    kernel, stride, dilation = ([int(v) for v in case.random.integers(1, n, planes)] for n in (4, 3, 3))
    padding = [int(case.random.integers(0, k // 2 + 1)) for k in kernel]
    return kernel, stride, padding, dilation


def result_size(n, k, s, p, d):
    return (n + 2 * p - d * (k - 1) - 1) // s + 1


def convolution_backward(case, dtype):
    planes, transposed, groups = int(case.random.integers(1, 3)), bool(case.random.integers(0, 2)), case.pick([1, 1, 2])
    kernel, stride, padding, dilation = windows(case, planes)
    small_side = [int(v) for v in case.random.integers(1, 5, planes)]
    # What a last window leaves over is there, too.
    large_side = [(o - 1) * s - 2 * p + d * (k - 1) + 1 + int(case.random.integers(0, s))
                  for o, k, s, p, d in zip(small_side, kernel, stride, padding, dilation)]
    if min(large_side) < 1:
        return convolution_backward(case, dtype)
    images, s_channels, l_channels = (int(v) for v in case.random.integers(1, 4, 3))
    s_all, l_all = (images, s_channels * groups, *small_side), (images, l_channels * groups, *large_side)
    a, b = small(case, s_all, dtype), small(case, l_all, dtype)
    w = small(case, (s_channels * groups, l_channels, *kernel), dtype)
    to_small, to_large, to_weight = (np.zeros(np.shape(x[4])) for x in (a, b, w))
    sizes = [np.zeros(np.shape(x[4])) for x in (a, b, w)]
    ranges = [range(n) for n in (images, s_channels * groups, l_channels)]
    for i, s, l in itertools.product(*ranges):
        channel = s // s_channels * l_channels + l
        for at in np.ndindex(*small_side):
            for k in np.ndindex(*kernel):
                there = tuple(o * st - p + j * d for o, st, p, j, d in zip(at, stride, padding, k, dilation))
                if any(t < 0 or t >= n for t, n in zip(there, large_side)):
                    continue
                x, y, z = a[4][(i, s, *at)], b[4][(i, channel, *there)], w[4][(s, l, *k)]
                for sums, place, value in zip((to_small, to_large, to_weight), ((i, s, *at), (i, channel, *there), (s, l, *k)),
                                              (y * z, x * z, x * y)):
                    sums[place] += value
        sizes[0][i, s] += 20
        sizes[1][i, channel] += 20
        sizes[2][s, l] += 20 * images
    grad, given = (b, a) if transposed else (a, b)
    side, scale = (to_small, sizes[0]) if transposed else (to_large, sizes[1])
    axes = (0, *range(2, planes + 2))
    mask, results = masked(case, [
        lambda: output(case, side, dtype, scale), lambda: output(case, to_weight, dtype, sizes[2]),
        lambda: output(case, grad[4].sum(axes), dtype, np.abs(grad[4]).sum(axes))])
    if not any(results):
        return convolution_backward(case, dtype)
    lists = [case.device.ints(x) for x in (stride, padding, dilation)]
    return [grad, given, w, None, *lists, flag(transposed), None, ctypes.c_int(groups), mask, ctypes.c_int8(0), *results]


def pool_shape(case):
    lead = case.pick([(2,), (1, 3), (2, 2)])
    return lead, tuple(int(v) for v in case.random.integers(2, 9, 2))


def spread(shape, sizes, low_high, divisor):
    """Each window's gradient in equal parts."""
    def of(grad):
        want = np.zeros(shape)
        for at in np.ndindex(*sizes):
            (y0, y1), (x0, x1) = low_high(0, at[0]), low_high(1, at[1])
            part = grad[..., at[0], at[1]] / divisor((y0, y1), (x0, x1))
            rows, columns = (slice(max(a, 0), min(b, n)) for (a, b), n in zip(((y0, y1), (x0, x1)), shape[-2:]))
            want[..., rows, columns] += part[..., None, None]
        return want
    return of


def avg_pool_backward(case, dtype):
    lead, plane = pool_shape(case)
    kernel, stride, padding, _ = windows(case, 2)
    sizes = [result_size(n, k, s, p, 1) for n, k, s, p in zip(plane, kernel, stride, padding)]
    if min(sizes) < 1:
        return avg_pool_backward(case, dtype)
    counted, override = bool(case.random.integers(0, 2)), int(case.pick([0, 0, 3]))

    def edges(axis, at):
        start = at * stride[axis] - padding[axis]
        return start, min(start + kernel[axis], plane[axis] + padding[axis])

    def divisor(y, x):
        if override:
            return override
        clip = (lambda e, n: e) if counted else (lambda e, n: (max(e[0], 0), min(e[1], n)))
        (y0, y1), (x0, x1) = clip(y, plane[0]), clip(x, plane[1])
        return (y1 - y0) * (x1 - x0)

    grad, self = small(case, (*lead, *sizes), dtype), small(case, (*lead, *plane), dtype)
    want = spread((*lead, *plane), sizes, edges, divisor)(grad[4])
    numbers = [case.device.ints(x) for x in (kernel, stride, padding)]
    return [grad, self, *numbers, flag(False), flag(counted), integer(override), ctypes.c_int8(0),
            output(case, want, dtype, np.abs(want) + 4)]


def adaptive_backward(case, dtype):
    lead, plane = pool_shape(case)
    sizes = [int(v) for v in case.random.integers(1, 6, 2)]

    def edges(axis, at):
        n, m = plane[axis], sizes[axis]
        return at * n // m, -(-(at + 1) * n // m)

    grad, self = small(case, (*lead, *sizes), dtype), small(case, (*lead, *plane), dtype)
    want = spread((*lead, *plane), sizes, edges, lambda y, x: (y[1] - y[0]) * (x[1] - x[0]))(grad[4])
    return [grad, self, output(case, want, dtype, np.abs(want) + 4)]


def max_pool_backward(case, dtype):
    lead, plane = pool_shape(case)
    kernel, stride, padding, dilation = windows(case, 2)
    sizes = [result_size(n, k, s, p, d) for n, k, s, p, d in zip(plane, kernel, stride, padding, dilation)]
    if min(sizes) < 1:
        return max_pool_backward(case, dtype)
    grad, self = small(case, (*lead, *sizes), dtype), small(case, (*lead, *plane), dtype)
    places = case.random.integers(0, plane[0] * plane[1], (*lead, *sizes))
    want = np.zeros((*lead, plane[0] * plane[1]))
    for at in np.ndindex(*lead):
        np.add.at(want[at], places[at].reshape(-1), grad[4][at].reshape(-1))
    numbers = [case.device.ints(x) for x in (kernel, stride, padding, dilation)]
    return [grad, self, case.given(places, case.pick(("s32", "s64"))), *numbers, flag(False),
            output(case, want.reshape(*lead, *plane), dtype, np.abs(want).reshape(*lead, *plane) + 4)]


RULES = [
    rule("SoftmaxBackward", softmax_backward(False), types=NARROW),
    rule("LogSoftmaxBackward", softmax_backward(True), types=NARROW),
    rule("LayerNormBackward", layer_norm_backward, types=NARROW),
    *(rule(name + ("" if name.startswith("Binary") else "Loss") + end, pair_loss(name, bool(end)), types=NARROW)
      for name in PAIRS for end in ("", "Backward")),
    rule("NLLLossBackward", nll_backward, types=NARROW),
    rule("ConvolutionBackward", convolution_backward, types=NARROW),
    rule("AvgPool2dBackward", avg_pool_backward, types=NARROW),
    rule("AdaptiveAvgPool2dBackward", adaptive_backward, types=NARROW),
    rule("MaxPool2dWithIndicesBackward", max_pool_backward, types=NARROW),
]
