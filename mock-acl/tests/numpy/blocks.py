"""Operators of transformer blocks, in NumPy: norms, gates, rotary embeddings.

Makers as in orders.py, called without an operand: they make their own.
"""
import ctypes

from device import np

from elementwise import Rule, sigmoid
from moves import integer, signed
from orders import Output

NARROW = ("f32", "f16", "bf16")


def shape_of(case, least=1):
    shape = case.shape()
    while len(shape) < least:
        shape = case.shape()
    return shape


def normed(x, gamma, epsilon):
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    count = np.prod([x.shape[d] for d in axes])
    rstd = 1 / np.sqrt(np.square(x).sum(axes, keepdims=True) / np.float64(count) + epsilon)
    return x * rstd * gamma, rstd


def rms_norm(case, dtype):
    shape = shape_of(case)
    inner = int(case.random.integers(1, len(shape) + 1))
    x, gamma = case.operand(shape, dtype), case.operand(shape[len(shape) - inner:], dtype)
    want, rstd = normed(x[4], gamma[4], 1e-5)
    if case.random.random() < 0.3 and rstd.size:
        rstd = rstd.reshape(shape[:len(shape) - inner])
    return [x[0], gamma[0], ctypes.c_double(1e-5), Output(want, dtype), Output(rstd, "f32")]


def add_rms_norm(case, dtype):
    shape = shape_of(case)
    x, y, gamma = case.operand(shape, dtype), case.operand(shape, dtype), case.operand(shape[-1:], dtype)
    total = (x[4].astype(np.float32) + y[4].astype(np.float32)).astype(np.float64)
    want, rstd = normed(total, gamma[4], 1e-6)
    outputs = [Output(want, dtype), Output(rstd, "f32"), Output(total, dtype)]
    return [x[0], y[0], gamma[0], ctypes.c_double(1e-6), *outputs]


def add_layer_norm(case, dtype):
    shape = shape_of(case)
    inner = int(case.random.integers(1, len(shape) + 1))
    tail, axes = shape[len(shape) - inner:], tuple(range(len(shape) - inner, len(shape)))
    x, y = case.operand(shape, dtype), case.operand(shape, dtype)
    gamma, beta = case.operand(tail, dtype), case.operand(tail, dtype)
    bias = case.pick([None, case.operand(shape, dtype), case.operand(tail, dtype)])
    total = x[4].astype(np.float32) + y[4].astype(np.float32)
    if bias is not None:
        total = total + bias[4].astype(np.float32)
    total, count = total.astype(np.float64), np.prod([shape[d] for d in axes])
    mean = total.sum(axes, keepdims=True) / np.float64(count)
    rstd = 1 / np.sqrt(np.square(total - mean).sum(axes, keepdims=True) / np.float64(count) + 1e-5)
    case.size = (np.abs(total) + np.abs(mean)) * rstd * np.abs(gamma[4]) + np.abs(beta[4])
    want = (total - mean) * rstd * gamma[4] + beta[4]
    outputs = [Output(want, dtype), Output(mean, "f32"), Output(rstd, "f32"), Output(total, dtype)]
    return [x[0], y[0], gamma[0], beta[0], None if bias is None else bias[0], ctypes.c_double(1e-5), True, *outputs]


def swiglu(case, dtype):
    shape = list(shape_of(case))
    d = int(case.random.integers(0, len(shape)))
    shape[d] *= 2
    x = case.operand(tuple(shape), dtype)
    a, b = np.split(x[4], 2, d)
    return [x[0], integer(signed(case, d, len(shape))), Output(a * sigmoid(a) * b, dtype)]


def rotary(case, dtype):
    shape = list(shape_of(case))
    shape[-1] *= 2
    x = case.operand(tuple(shape), dtype)
    small = tuple(1 if n != shape[-1] and case.random.random() < 0.4 else n for n in shape[:-1]) + (shape[-1],)
    cos, sin = case.operand(small, dtype), case.operand(small, dtype)
    mode = int(case.random.integers(0, 2))
    if mode == 0:
        first, second = np.split(x[4], 2, -1)
        turned = np.concatenate([-second, first], -1)
    else:
        turned = np.stack([-x[4][..., 1::2], x[4][..., 0::2]], -1).reshape(x[4].shape)
    case.size = np.abs(x[4] * cos[4]) + np.abs(turned * sin[4])
    return [x[0], cos[0], sin[0], integer(mode), Output(x[4] * cos[4] + turned * sin[4], dtype)]


RULES = [Rule("aclnn" + name, "block", maker, types=NARROW) for name, maker in
         (("RmsNorm", rms_norm), ("AddRmsNorm", add_rms_norm), ("AddLayerNorm", add_layer_norm), ("SwiGlu", swiglu),
          ("RotaryPositionEmbedding", rotary))]
