"""AscendCL through ctypes: as much as a test of an operator needs."""
import ctypes
import importlib
import math
import os
import subprocess
import sys


def numpy():
    """The machine's NumPy, or one that is downloaded once."""
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "racl/python")
    sys.path.append(folder)
    try:
        import numpy as found
    except ImportError:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--target", folder, "numpy"], check=True)
        # The folder was looked at before it was there.
        importlib.invalidate_caches()
        import numpy as found
    return found


np = numpy()

# Name: (number, NumPy type of the elements, bytes). bf16 has no NumPy type: its bits are kept in u16.
DTYPES = {"f32": (0, np.float32), "f16": (1, np.float16), "s8": (2, np.int8), "s32": (3, np.int32),
          "u8": (4, np.uint8), "s16": (6, np.int16), "s64": (9, np.int64), "f64": (11, np.float64),
          "bool": (12, np.bool_), "bf16": (27, np.uint16)}
FLOATS = ("f32", "f16", "bf16", "f64")
INTEGERS = ("s8", "u8", "s16", "s32", "s64")
TO_DEVICE, TO_HOST = 1, 2


def to_bf16(values):
    """Rounds to nearest even; NaN stays one."""
    wide = np.asarray(values, np.float64)
    # Once: through f32 rounded to odd.
    near = wide.astype(np.float32)
    bits = near.view(np.uint32).astype(np.uint64)
    inexact = (near.astype(np.float64) != wide) & np.isfinite(near) & np.isfinite(wide)
    grew = np.abs(near.astype(np.float64)) > np.abs(wide)
    even = (bits & 1) == 0
    bits = np.where(inexact & even, np.where(grew, bits - 1, bits + 1), bits)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(wide), np.uint16(0x7FC0), rounded).astype(np.uint16)


def from_bf16(bits):
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


def encode(values, dtype):
    """Numbers as elements of a type; of values that fit."""
    with np.errstate(all="ignore"):
        return to_bf16(values) if dtype == "bf16" else np.asarray(values).astype(DTYPES[dtype][1])


def decode(elements, dtype):
    """Elements as float64 or int64."""
    if dtype == "bf16":
        return from_bf16(elements).astype(np.float64)
    return elements.astype(np.float64 if dtype in FLOATS else np.int64)


class Failure(Exception):
    pass


class Device:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("aclCreateTensor", "aclCreateScalar", "aclCreateIntArray", "aclCreateFloatArray",
                     "aclCreateBoolArray", "aclCreateTensorList", "aclGetRecentErrMsg", "aclCreateTensorDesc",
                     "aclCreateDataBuffer", "aclopCreateAttr"):
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.stream, self.made, self.memory = ctypes.c_void_p(), [], []
        self.called, self.names = set(), set()  # operators of aclnn, operators by name
        self.check("aclInit", None)
        self.check("aclrtSetDevice", 0)
        self.check("aclrtCreateStream", ctypes.byref(self.stream))

    def check(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code != 0:
            text = self.lib.aclGetRecentErrMsg()
            raise Failure(f"{name}: {code} {ctypes.string_at(text).decode() if text else ''}")

    def allocate(self, size):
        address = ctypes.c_void_p()
        self.check("aclrtMalloc", ctypes.byref(address), ctypes.c_size_t(max(size, 1)), 0)
        self.memory.append(address)
        return address

    def free(self):
        for name, handle in reversed(self.made):
            getattr(self.lib, name)(ctypes.c_void_p(handle))
        for address in self.memory:
            self.check("aclrtFree", address)
        self.made, self.memory = [], []

    def tensor(self, elements, dtype, view):
        """A tensor with the elements of a one-dimensional storage; `view` is (shape, strides, offset)."""
        storage = np.ascontiguousarray(elements)
        address = self.allocate(storage.nbytes)
        self.put(address, storage)
        shape, strides, offset = view
        dims, steps = (ctypes.c_int64 * max(len(shape), 1))(*shape), (ctypes.c_int64 * max(len(shape), 1))(*strides)
        whole = (ctypes.c_int64 * 1)(storage.size)
        handle = self.lib.aclCreateTensor(dims, ctypes.c_uint64(len(shape)), DTYPES[dtype][0], steps,
                                          ctypes.c_int64(offset), 2, whole, ctypes.c_uint64(1), address)
        if not handle:
            raise Failure(f"aclCreateTensor {dtype} {view}")
        self.made.append(("aclDestroyTensor", handle))
        return ctypes.c_void_p(handle), address

    def put(self, address, storage):
        if storage.nbytes:
            size, host = ctypes.c_size_t(storage.nbytes), storage.ctypes.data_as(ctypes.c_void_p)
            self.check("aclrtMemcpy", address, size, host, size, TO_DEVICE)

    def get(self, address, like):
        out = np.empty_like(like)
        if out.nbytes:
            self.check("aclrtMemcpy", out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(out.nbytes), address,
                       ctypes.c_size_t(out.nbytes), TO_HOST)
        return out

    def scalar(self, value, dtype):
        element = encode(np.array([value]), dtype)
        handle = self.lib.aclCreateScalar(element.ctypes.data_as(ctypes.c_void_p), DTYPES[dtype][0])
        self.made.append(("aclDestroyScalar", handle))
        return ctypes.c_void_p(handle)

    def ints(self, values):
        array = (ctypes.c_int64 * max(len(values), 1))(*values)
        handle = self.lib.aclCreateIntArray(array, ctypes.c_uint64(len(values)))
        self.made.append(("aclDestroyIntArray", handle))
        return ctypes.c_void_p(handle)

    def bools(self, values):
        array = (ctypes.c_bool * max(len(values), 1))(*values)
        handle = self.lib.aclCreateBoolArray(array, ctypes.c_uint64(len(values)))
        self.made.append(("aclDestroyBoolArray", handle))
        return ctypes.c_void_p(handle)

    def tensor_list(self, tensors):
        """Takes the tensors over."""
        members = (ctypes.c_void_p * max(len(tensors), 1))(*(t.value for t in tensors))
        handle = self.lib.aclCreateTensorList(members, ctypes.c_uint64(len(tensors)))
        held = {t.value for t in tensors}
        self.made = [m for m in self.made if m[1] not in held]
        self.made.append(("aclDestroyTensorList", handle))
        return ctypes.c_void_p(handle)

    def run(self, name, *arguments):
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.check(name + "GetWorkspaceSize", *arguments, ctypes.byref(size), ctypes.byref(executor))
        workspace = self.allocate(size.value) if size.value else None
        self.check(name, workspace, size, executor, self.stream)
        self.check("aclrtSynchronizeStream", self.stream)
        self.called.add(name)


def extent(view):
    """Elements of the storage that a view needs."""
    shape, strides, offset = view
    if 0 in shape:
        return offset
    return offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides))


def contiguous(shape):
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    return tuple(shape), tuple(strides), 0


def read(storage, view):
    """The elements that a view shows, as an array of its shape."""
    shape, strides, offset = view
    if 0 in shape:
        return np.empty(shape, storage.dtype)
    return np.lib.stride_tricks.as_strided(
        storage[offset:], shape, [s * storage.itemsize for s in strides]).copy()
