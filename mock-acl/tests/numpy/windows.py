"""Paddings, upsampling, pooling and convolution, in NumPy. Makers as in blocks.py."""
import ctypes

from device import FLOATS, np

from blocks import NARROW
from elementwise import EVERY, Rule
from moves import integer
from norms import handle, tame
from orders import Output
from reductions import flag


def pick_shape(case, rank, least=1, most=9):
    return tuple(int(n) for n in case.random.integers(least, most, rank))


def images(case, dims, extra=(0, 1)):
    """A shape with channels, and mostly a batch, before `dims` dimensions."""
    rank = 1 + case.pick(extra)
    front = (0,) * rank if case.random.random() < 0.03 else pick_shape(case, rank, 1, 5)
    return (*front, *pick_shape(case, dims))


def pad(kind, dims):
    def make(case, dtype):
        x = case.operand(images(case, dims), dtype)
        pairs = [(0, 0)] * (x[4].ndim - dims)
        for n in x[3][0][-dims:]:
            limit = {"reflect": n - 1, "wrap": n, "edge": 5}[kind]
            pairs.append(tuple(int(v) for v in case.random.integers(0, min(limit, 6) + 1, 2)))
        flat = [v for pair in reversed(pairs[-dims:]) for v in pair]
        want = np.pad(x[4], pairs, kind) if x[4].size else np.zeros([n + a + b for n, (a, b) in
                                                                       zip(x[3][0], pairs)])
        return [x[0], case.device.ints(flat), Output(want, dtype)]
    return make


def nearest(dims, exact, scales):
    """`scales`: the type of the scales, or None."""
    def make(case, dtype):
        x = case.operand(images(case, dims, (1,)), dtype)
        sizes = pick_shape(case, dims, 1, 14)
        given, want = [], x[4]
        for k, size in enumerate(sizes):
            n = x[3][0][2 + k]
            step = np.float32(n) / np.float32(size)
            scale = 0.0
            if scales and case.random.random() < 0.5:
                scale = float(case.random.integers(2, 13)) / 4
                step = np.float32(1 / np.float64(scale))
            given.append(scale)
            at = (np.arange(size).astype(np.float32) + np.float32(0.5 if exact else 0)) * step
            want = np.take(want, np.minimum(np.floor(at).astype(np.int64), n - 1), 2 + k)
        kind = ctypes.c_float if scales == "float" else ctypes.c_double
        return [x[0], case.device.ints(sizes), *([kind(s) for s in given] if scales else []), Output(want, dtype)]
    return make


def list_of(case, numbers):
    """One number stands for all of them."""
    numbers = [int(n) for n in numbers]
    return case.device.ints(numbers[:1] if len(set(numbers)) == 1 and case.random.random() < 0.5 else numbers)


class Window:
    """Random windows over planes of a size, and where each of them looks."""

    def __init__(self, case, size, pooled, dilated=True, axes=2):
        draw = case.random.integers
        self.size, self.ceil = size, bool(draw(0, 2)) and pooled
        while True:
            self.kernel, self.stride = draw(1, 5, axes), draw(1, 4, axes)
            self.dilation = draw(1, 4, axes) if dilated else np.ones(axes, int)
            self.before = np.array([draw(0, k // 2 + 1 if pooled else 4) for k in self.kernel])
            self.after = self.before
            # With `ceil` the only window may reach past what is behind.
            if all(n + 2 * p + (s - 1 if self.ceil else 0) >= d * (k - 1) + 1
                   for n, p, d, k, s in zip(size, self.before, self.dilation, self.kernel, self.stride)) \
                    and min(self.out()) > 0:
                break

    def out(self):
        shape = []
        for n, a, b, d, k, s in zip(self.size, self.before, self.after, self.dilation, self.kernel, self.stride):
            room = n + a + b - d * (k - 1) - 1
            count = (room + (s - 1 if self.ceil else 0)) // s + 1
            if self.ceil and (count - 1) * s >= n + a:
                count -= 1
            shape.append(int(count))
        return tuple(shape)

    def patches(self, x, fill):
        """[..., windows of the plane, elements of a window] of planes `x`, and where the elements lie."""
        shape = self.out()
        rows, columns = (np.arange(o)[:, None] * s - b + np.arange(k)[None] * d for o, s, b, k, d in
                         zip(shape, self.stride, self.before, self.kernel, self.dilation))
        r = np.broadcast_to(rows[:, None, :, None], (shape[0], shape[1], rows.shape[1], columns.shape[1]))
        c = np.broadcast_to(columns[None, :, None, :], r.shape)
        inside = (r >= 0) & (r < self.size[0]) & (c >= 0) & (c < self.size[1])
        found = x[..., np.clip(r, 0, self.size[0] - 1), np.clip(c, 0, self.size[1] - 1)]
        return np.where(inside, found, fill), r, c, inside


def average(case, dtype):
    x = case.operand(images(case, 2), dtype)
    w = Window(case, x[3][0][-2:], True, False)
    values, r, c, inside = w.patches(x[4], 0.0)
    counted, override = bool(case.random.integers(0, 2)), int(case.pick([0, 0, 0, 3, -2]))
    in_padding = (r < w.size[0] + w.after[0]) & (c < w.size[1] + w.after[1])
    count = (in_padding if counted else inside).sum((-2, -1))
    with np.errstate(all="ignore"):
        want = values.sum((-2, -1)) / (override or count)
        case.size = np.nan_to_num(np.abs(values).sum((-2, -1)) / np.abs(override or count), posinf=0)
    strides = [] if all(w.stride == w.kernel) and case.random.random() < 0.8 else w.stride
    return [x[0], list_of(case, w.kernel), list_of(case, strides), list_of(case, w.before), flag(w.ceil),
            flag(counted), integer(override), ctypes.c_int8(0), Output(want, dtype)]


def adaptive(case, dtype):
    x = case.operand(images(case, 2), dtype)
    sizes, shape = pick_shape(case, 2, 1, 7), x[3][0]
    want, size = (np.zeros(shape[:-2] + sizes) for _ in range(2))
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            part = x[4][..., i * shape[-2] // sizes[0]:-(-(i + 1) * shape[-2] // sizes[0]),
                        j * shape[-1] // sizes[1]:-(-(j + 1) * shape[-1] // sizes[1])]
            want[..., i, j], size[..., i, j] = part.mean((-2, -1)), np.abs(part).mean((-2, -1))
    case.size = np.nan_to_num(size, posinf=0)
    return [x[0], list_of(case, sizes), Output(want, dtype)]


def elements(windows):
    """The two last dimensions as one."""
    return windows.reshape(*windows.shape[:-2], windows.shape[-2] * windows.shape[-1])


def greatest(values, inside):
    """The greatest of each window and its place there: the first, but the last of NaN."""
    flat, inside = elements(values), elements(inside)
    inside = np.broadcast_to(inside, flat.shape)
    some = np.where(inside & ~np.isnan(flat), flat, -np.inf)
    best = some.max(-1)
    first = np.argmax((flat == best[..., None]) & inside, -1)
    last_nan = flat.shape[-1] - 1 - np.argmax((np.isnan(flat) & inside)[..., ::-1], -1)
    nan = (np.isnan(flat) & inside).any(-1)
    return np.where(nan, np.nan, best), np.where(nan, last_nan, np.where(inside.any(-1), first, -1))


def max_with_indices(case, dtype):
    x = case.operand(images(case, 2), dtype)
    w = Window(case, x[3][0][-2:], True)
    values, r, c, inside = w.patches(x[4], 0.0)
    want, at = greatest(values, inside)
    place = elements(r * w.size[1] + c)
    at, place = np.broadcast_arrays(at[..., None], np.broadcast_to(place, (*want.shape, place.shape[-1])))
    places = np.where(at[..., 0] < 0, -1, np.take_along_axis(place, np.maximum(at[..., :1], 0), -1)[..., 0])
    return [x[0], list_of(case, w.kernel), list_of(case, w.stride), list_of(case, w.before),
            list_of(case, w.dilation), flag(w.ceil), Output(want, dtype), Output(places, case.pick(["s32", "s64"]))]


def max_pool(case, dtype):
    x = case.operand(images(case, 2), dtype)
    w = Window(case, x[3][0][-2:], True)
    pads = list_of(case, w.before)
    if case.random.random() < 0.5:
        w.after = np.minimum(w.after + case.random.integers(0, 2, 2), w.kernel // 2)
        pads = case.device.ints([int(n) for n in (*w.before, *w.after)])
    elif not w.before.any():
        pads = case.device.ints([])
    want, _ = greatest(*(w.patches(x[4], 0.0)[k] for k in (0, 3)))
    stride, dilation = (case.device.ints([]) if all(n == 1) else list_of(case, n) for n in (w.stride, w.dilation))
    return [x[0], list_of(case, w.kernel), stride, integer(0), pads, dilation, integer(w.ceil), Output(want, dtype)]


def im2col(case, dtype):
    x = case.operand(images(case, 2), dtype)
    w = Window(case, x[3][0][-2:], False)
    values = w.patches(x[4], 0)[0]
    front, count = values.shape[:-4], int(np.prod(values.shape[-4:-2]))
    columns = np.moveaxis(elements(values).reshape(*front, count, int(np.prod(w.kernel))), -1, -2)
    want = columns.reshape(*front[:-1], front[-1] * columns.shape[-2], count)
    lists = [list_of(case, n) for n in (w.kernel, w.dilation, w.before, w.stride)]
    return [x[0], *lists, Output(want, dtype)]


def convolved(case, x, weight, bias, w, groups):
    """x of four dimensions; case.size is the sum of the sizes of the products."""
    values = w.patches(x, 0.0)[0]
    images, channels = x.shape[:2]
    shape = values.shape[2:4]
    columns = values.reshape(images, groups, channels // groups, *values.shape[2:])
    kernels = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    pattern = "ngcyxrs,gkcrs->ngkyx"
    want = np.einsum(pattern, columns, kernels).reshape(images, weight.shape[0], *shape)
    case.size = np.einsum(pattern, np.abs(columns), np.abs(kernels)).reshape(want.shape)
    if bias is not None:
        want, case.size = want + bias.reshape(-1, 1, 1), case.size + np.abs(bias).reshape(-1, 1, 1)
    return want


def spread(case, x, weight, bias, lists, groups):
    """Each element of x puts its products with a window into the result; `lists` of two numbers each."""
    stride, before, dilation, extra = lists
    images, size, kernel = x.shape[0], x.shape[2:], weight.shape[2:]
    whole = [(size[k] - 1) * stride[k] + dilation[k] * (kernel[k] - 1) + 1 + extra[k] for k in range(2)]
    want, case.size = (np.zeros((images, groups * weight.shape[1], *whole)) for _ in range(2))
    columns = x.reshape(images, groups, x.shape[1] // groups, *size)
    kernels = weight.reshape(groups, -1, *weight.shape[1:])
    for r, s in np.ndindex(*kernel):
        place = [slice(k * d, k * d + (n - 1) * t + 1, t) for k, d, n, t in zip((r, s), dilation, size, stride)]
        for total, sign in ((want, lambda v: v), (case.size, np.abs)):
            part = np.einsum("ngcyx,gck->ngkyx", sign(columns), sign(kernels[..., r, s]))
            total[:, :, place[0], place[1]] += part.reshape(images, want.shape[1], *size)
    inside = (slice(None), slice(None), *(slice(b, n - b) for b, n in zip(before, whole)))
    want, case.size = want[inside], case.size[inside]
    if bias is not None:
        want, case.size = want + bias.reshape(-1, 1, 1), case.size + np.abs(bias).reshape(-1, 1, 1)
    return want


def transposed(case, dtype):
    groups, axes = int(case.pick([1, 1, 2, 3])), int(case.pick([1, 2, 2]))
    inner, outer = (int(n) for n in case.random.integers(1, 5, 2))
    size = pick_shape(case, axes, 1, 30 if axes == 2 else 600)
    x = tame(case, (int(case.random.integers(0, 3)), inner * groups, *size), dtype)
    numbers = lambda low, high: [1] * (2 - axes) + [int(n) for n in case.random.integers(low, high, axes)]
    kernel, stride, dilation, before, extra = (numbers(*n) for n in ((1, 5), (1, 4), (1, 4), (0, 3), (0, 3)))
    for k in range(2):
        extra[k] = min(extra[k], max(stride[k], dilation[k]) - 1) if k >= 2 - axes else 0
        n = size[k - 2 + axes] if k >= 2 - axes else 1
        reach = (n - 1) * stride[k] + dilation[k] * (kernel[k] - 1) + extra[k]
        before[k] = min(before[k], reach // 2) if k >= 2 - axes else 0
    weight = tame(case, (inner * groups, outer, *kernel[-axes:]), dtype)
    bias = tame(case, (outer * groups,), case.pick([dtype, "f32"])) if case.random.random() < 0.5 else None
    planes, kernels = (v[4][:, :, None] if axes == 1 else v[4] for v in (x, weight))
    lists = (stride, before, dilation, extra)
    want = spread(case, planes, kernels, None if bias is None else bias[4], lists, groups)
    if axes == 1:
        want, case.size = want[:, :, 0], case.size[:, :, 0]
    stride, before, dilation, extra = (list_of(case, n[-axes:]) for n in lists)
    return [x[0], weight[0], handle(bias), stride, before, dilation, flag(True), extra, integer(groups),
            Output(want, dtype), ctypes.c_int8(0)]


def convolution(case, dtype):
    if case.random.random() < 0.5:
        return transposed(case, dtype)
    groups, axes = int(case.pick([1, 1, 2, 3])), int(case.pick([1, 2, 2]))
    inner, outer = int(case.random.integers(1, 4)), int(case.random.integers(0, 9)) or 0
    count = 0 if case.random.random() < 0.05 else int(case.random.integers(1, 4))
    x = tame(case, (count, inner * groups, *pick_shape(case, axes, 1, 30 if axes == 2 else 600)), dtype)
    line = axes == 1
    planes = x[4][:, :, None] if line else x[4]
    w = Window(case, planes.shape[-2:], False)
    if line:
        for name, unit in (("kernel", 1), ("stride", 1), ("dilation", 1), ("before", 0)):
            getattr(w, name)[0] = unit
        w.after = w.before
    weight = tame(case, (outer * groups, inner, *w.kernel[-axes:]), dtype)
    bias = tame(case, (outer * groups,), case.pick([dtype, "f32"])) if case.random.random() < 0.5 else None
    kernels = weight[4][:, :, None] if line else weight[4]
    want = convolved(case, planes, kernels, None if bias is None else bias[4], w, groups)
    if line:
        want, case.size = want[:, :, 0], case.size[:, :, 0]
    lists = [list_of(case, n[-axes:]) for n in (w.stride, w.before, w.dilation)]
    return [x[0], weight[0], handle(bias), *lists, flag(False), None, integer(groups), Output(want, dtype),
            ctypes.c_int8(0)]


def depthwise(case, dtype):
    channels, times = int(case.random.integers(1, 4)), int(case.random.integers(1, 4))
    x = tame(case, (int(case.random.integers(0, 3)), channels, *pick_shape(case, 2)), dtype)
    w = Window(case, x[3][0][-2:], False)
    weight = tame(case, (channels * times, 1, *w.kernel), dtype)
    bias = tame(case, (channels * times,), dtype) if case.random.random() < 0.5 else None
    want = convolved(case, x[4], weight[4], None if bias is None else bias[4], w, channels)
    return [x[0], weight[0], list_of(case, w.kernel), handle(bias), list_of(case, w.stride), list_of(case, w.before),
            list_of(case, w.dilation), Output(want, dtype), ctypes.c_int8(0)]


def rule(name, maker, types=FLOATS):
    return Rule("aclnn" + name, "block", maker, types=types)


RULES = [
    *(rule(f"{name}Pad{d}d", pad(kind, d), EVERY) for name, kind, least in
      (("Reflection", "reflect", 1), ("Replication", "edge", 1), ("Circular", "wrap", 2)) for d in range(least, 4)),
    rule("UpsampleNearest1d", nearest(1, False, None), EVERY),
    rule("UpsampleNearest2d", nearest(2, False, None), EVERY),
    rule("UpsampleNearest1dV2", nearest(1, False, "float"), EVERY),
    rule("UpsampleNearest2dV2", nearest(2, False, "float"), EVERY),
    rule("UpsampleNearest3d", nearest(3, False, "double"), EVERY),
    *(rule(f"UpsampleNearestExact{d}d", nearest(d, True, "double"), EVERY) for d in range(1, 4)),
    rule("AvgPool2d", average), rule("AdaptiveAvgPool2d", adaptive), rule("MaxPool2dWithIndices", max_with_indices),
    rule("MaxPool", max_pool), rule("Im2col", im2col, EVERY), rule("Convolution", convolution, NARROW),
    rule("ConvDepthwise2d", depthwise, NARROW),
]
