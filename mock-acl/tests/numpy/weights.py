"""Weights in blocks, in NumPy: what turns them, and products that take them. Makers as in products.py."""
import ctypes
import math

from device import DTYPES, decode, encode, np, read

from products import Expect, addmm, baddbmm, bmm, matmul, mm, quant_matmul, rule

ND, NC1HWC0, FRACTAL_Z, FRACTAL_NZ = 2, 3, 4, 29
TYPES = {np.dtype(kind).char: name for name, (_, kind) in DTYPES.items()}


def padded(x, blocks):
    """Zeros up to whole blocks of each dimension."""
    return np.pad(x, [(0, -n % b) for n, b in zip(x.shape, blocks)])


def to_nz(x, n0):
    """(..., n1, m1, 16, n0)"""
    lead = x.shape[:-2]
    x = padded(x, (1,) * len(lead) + (16, n0))
    m, n = x.shape[-2:]
    x = x.reshape(*lead, m // 16, 16, n // n0, n0)
    rank = len(lead)
    return np.ascontiguousarray(x.transpose(*range(rank), rank + 2, rank, rank + 1, rank + 3))


def to_5hd(x, c0):
    x = padded(x, (1, c0, 1, 1))
    n, c, h, w = x.shape
    return np.ascontiguousarray(x.reshape(n, c // c0, c0, h, w).transpose(0, 1, 3, 4, 2))


def to_z(x, c0):
    x = padded(x, (16, c0, 1, 1))
    n, c, h, w = x.shape
    x = x.reshape(n // 16, 16, c // c0, c0, h, w).transpose(2, 4, 5, 0, 1, 3)
    return np.ascontiguousarray(x.reshape(c // c0 * h * w, n // 16, 16, c0))


FORMS = {FRACTAL_NZ: to_nz, NC1HWC0: to_5hd, FRACTAL_Z: to_z}


def blocked(case, dims, strides, stored, dtype, form):
    """An operand whose storage is `stored`; its view here is the storage as one line."""
    storage = stored.reshape(-1)
    address = case.device.allocate(storage.nbytes)
    case.device.put(address, storage)
    lengths = lambda values: (ctypes.c_int64 * max(len(values), 1))(*values)
    handle = case.device.lib.aclCreateTensor(
        lengths(dims), ctypes.c_uint64(len(dims)), DTYPES[dtype][0], lengths(strides), ctypes.c_int64(0), form,
        lengths(stored.shape), ctypes.c_uint64(stored.ndim), address)
    assert handle
    case.device.made.append(("aclDestroyTensor", handle))
    return ctypes.c_void_p(handle), address, storage, ((storage.size,), (1,), 0)


def dense(dims):
    return [math.prod(dims[i + 1:]) for i in range(len(dims))]


def weight(case, elements, dtype):
    """As FRACTAL_NZ, or the transposed view of one."""
    dims, n0 = elements.shape, int(case.pick([32 // elements.itemsize, 16]))
    if case.random.random() < 0.4:
        # One row or column can be either way round; then it is what the storage says first.
        if min(dims[-2:]) > 1:
            strides = dense(dims[:-2] + (dims[-1], dims[-2]))
            strides[-2:] = strides[-1], strides[-2]
            return blocked(case, dims, strides, to_nz(np.swapaxes(elements, -1, -2), n0), dtype, FRACTAL_NZ)
    return blocked(case, dims, dense(dims), to_nz(elements, n0), dtype, FRACTAL_NZ)


def in_blocks(case, of, at, **parameters):
    arguments = of(case, **parameters)
    given = arguments[at]
    elements = read(given[2], given[3])
    if elements.ndim >= 2 and case.random.random() < 0.8:
        arguments[at] = weight(case, elements, TYPES[elements.dtype.char])
    return arguments


def shape_of(case, form):
    lead = [] if form != FRACTAL_NZ else [2, 3][:int(case.random.integers(0, 3))]
    last = 4 if form != FRACTAL_NZ else 2
    return tuple(lead) + tuple(int(case.pick([0, 1, 2, 5, 15, 16, 17, 33, 40][lead == []:])) for _ in range(last))


def format_cast(case, dtype):
    form = case.pick((FRACTAL_NZ, FRACTAL_NZ, NC1HWC0, FRACTAL_Z))
    shape = shape_of(case, form)
    if form != FRACTAL_NZ:
        shape = shape[:2] + tuple(n % 4 + 1 for n in shape[2:])
    plain = case.operand(shape, dtype)
    elements = read(plain[2], plain[3])
    width = 32 // elements.itemsize if form == FRACTAL_NZ else 32 if elements.itemsize == 1 else 16
    stored = FORMS[form](elements, width)
    if case.random.random() < 0.5:
        junk = np.full_like(stored, 1)
        target = blocked(case, shape, dense(shape), junk, dtype, form)
        return [plain, Expect(target, decode(stored, dtype).reshape(-1), dtype)]
    source = blocked(case, shape, dense(shape), stored, dtype, form)
    empty = np.zeros(elements.size, elements.dtype)
    handle, address = case.device.tensor(empty, dtype, (shape, tuple(dense(shape)), 0))
    out = handle, address, empty, (shape, tuple(dense(shape)), 0)
    return [source, Expect(out, decode(elements, dtype), dtype)]


def trans_weight(case, dtype):
    """The memory has room for the blocks; what lies behind the dense weight may be anything."""
    shape = tuple(max(n, 1) for n in shape_of(case, FRACTAL_NZ))
    elements = encode(case.values(math.prod(shape), dtype), dtype).reshape(shape)
    stored = to_nz(elements, 32 // elements.itemsize)
    memory = np.concatenate([elements.reshape(-1), np.ones(stored.size - elements.size, elements.dtype)])
    size = ctypes.c_uint64()
    case.device.check("aclnnCalculateMatmulWeightSizeV2", case.device.ints(shape), DTYPES[dtype][0], ctypes.byref(size))
    assert size.value == stored.size
    handle, address = case.device.tensor(memory, dtype, (shape, tuple(dense(shape)), 0))
    return [Expect((handle, address, memory, ((stored.size,), (1,), 0)), decode(stored, dtype).reshape(-1), dtype)]


RULES = [
    rule("NpuFormatCast", format_cast, tuple(DTYPES)), rule("TransMatmulWeight", trans_weight, ("f16", "bf16", "s8")),
    *(rule(name, in_blocks, of=maker, at=1) for name, maker in (
        ("Mm", mm), ("Matmul", matmul), ("BatchMatMul", bmm), ("MatmulWeightNz", matmul), ("BatchMatMulWeightNz", bmm))),
    *(rule(name, in_blocks, of=maker, at=2) for name, maker in (
        ("Addmm", addmm), ("AddmmWeightNz", addmm), ("Baddbmm", baddbmm))),
    *(rule(f"QuantMatmul{name}", in_blocks, of=quant_matmul, at=1, version=version) for name, version in (
        ("V3", 3), ("V4", 4), ("V5", 5), ("WeightNz", 5))),
]
