#!/usr/bin/env python3
"""A plan on arrays of NumPy, through racl.h and cffi alone: y = relu(x * w + b) for batches of several sizes.

Where PyTorch is there, the same once more on its tensors, which come and go by DLPack; where torch_npu is there too, with
weights in its memory on the device. RACL_LIBRARY chooses the library; "mock" needs no card.

    network.py include/racl.h lib/libracl.so
"""
import ctypes
import importlib.util
import os
import re
import sys

import numpy as np
from cffi import FFI

ffi = FFI()


def declarations(header):
    """What cffi takes of a header: declarations, and constants that are numbers."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(header).read(), flags=re.S)
    text = re.sub(r'#ifdef __cplusplus.*?#endif|#include[^\n]*|#if[^\n]*|#endif|#define \w+[ \t]*\n', "", text, flags=re.S)
    return text


class Failure(Exception):
    pass


class Racl:
    """Every function of the header, with statuses as exceptions and results as values."""

    def __init__(self, header, library):
        ffi.cdef(declarations(header))
        self.c = ffi.dlopen(library)

    def __getattr__(self, name):
        function = getattr(self.c, "racl_" + name)

        def call(*args):
            status = function(*args)
            if status != self.c.RACL_OK:
                raise Failure(ffi.string(self.c.racl_last_error_message()).decode())

        return call

    def new(self, kind, function, *args):
        """The result of a function that puts it in its last place."""
        place = ffi.new(kind + "[1]")
        getattr(self, function)(*args, place)
        return place[0]


class Value:
    """A value of a builder, so that an int among arguments is a number."""

    def __init__(self, number):
        self.number = number


def sized(kind, **fields):
    made = ffi.new(kind + " *", fields)
    made.size = ffi.sizeof(kind)
    return made


def python(name, result, *kinds):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, kinds
    return function


capsule_pointer = python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
capsule_name = python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
new_capsule = python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
USED = b"used_dltensor"  # by DLPack: whoever took what is in a capsule calls it so


def managed_of(tensor):
    """The DLManagedTensor of a tensor of PyTorch, for one who takes it over."""
    from torch.utils.dlpack import to_dlpack

    capsule = to_dlpack(tensor)
    managed = ffi.cast("void *", capsule_pointer(capsule, b"dltensor"))
    capsule_name(capsule, USED)
    return managed


class Network:
    TYPE = 0  # float

    def __init__(self, racl, context, stream, w, b):
        """`w` is an array, or a tensor of torch_npu, which the plan reads where it is."""
        self.racl, self.context, self.stream = racl, context, stream
        c = racl.c
        builder = racl.new("racl_builder *", "builder_new", ffi.NULL)
        rows = racl.new("racl_dim", "builder_symbol", builder, b"rows", 1, 64)
        x = self.input(builder, b"x", [rows, w.shape[0]], c.RACL_INPUT_HOST)
        weights = self.input(builder, b"w", w.shape, c.RACL_INPUT_FROZEN)
        bias = Value(racl.new("racl_value", "builder_constant", builder, self.TYPE, list(b.shape), b.ndim,
                              ffi.from_buffer(b), b.nbytes))
        product = self.record(builder, b"aclnnMatmul", x, weights, None, 0)
        total = self.record(builder, b"aclnnAdd", product, bias, 1.0, None)
        racl.builder_output(builder, b"y", self.record(builder, b"aclnnRelu", total, None).number)
        plan = racl.new("racl_plan *", "builder_build", builder)
        frozen = ffi.new("racl_frozen[1]")
        name = ffi.new("char[]", b"w")
        frozen[0].name, frozen[0].tensor = name, self.tensor(w)
        self.executable = racl.new("racl_executable *", "executable_new", plan, context, ffi.NULL, frozen, 1)
        self.bindings = racl.new("racl_bindings *", "bindings_new", self.executable)
        self.x = racl.new("uint32_t", "executable_input", self.executable, b"x")
        self.y = racl.new("uint32_t", "executable_output", self.executable, b"y")
        racl.plan_free(plan)
        racl.tensor_free(frozen[0].tensor)  # the executable keeps it

    def input(self, builder, name, shape, of_class):
        shape = list(shape)
        return Value(self.racl.new("racl_value", "builder_input", builder, name, self.TYPE, shape, len(shape), of_class))

    def record(self, builder, name, *args):
        """An operator; None is its result, a float a scalar, and an int a number."""
        c, made = self.racl.c, ffi.new("racl_value *")
        places = ffi.new("racl_arg[]", len(args))
        for place, arg in zip(places, args):
            if arg is None:
                place.kind, place.data = c.RACL_ARG_RESULT, made
            elif isinstance(arg, float):
                place.kind, place.real = c.RACL_ARG_SCALAR_FLOAT, arg
            elif isinstance(arg, Value):
                place.kind, place.integer = c.RACL_ARG_VALUE, ffi.cast("int64_t", arg.number)
            else:
                place.kind, place.integer = c.RACL_ARG_INT, arg
        self.racl.builder_operator(builder, name, places, len(args))
        return Value(made[0])

    def tensor(self, array):
        """The elements of an array on the device, or a tensor of torch_npu itself."""
        if not isinstance(array, np.ndarray):
            return self.racl.new("racl_tensor *", "tensor_from_dlpack", self.context, managed_of(array), 0)
        racl, shape = self.racl, ffi.new("size_t[]", list(array.shape))
        buffer = racl.new("racl_buffer *", "buffer_new", self.context, array.nbytes)
        racl.buffer_write(buffer, 0, ffi.from_buffer(array), array.nbytes)
        layout = sized("racl_tensor_layout", dtype=self.TYPE, rank=array.ndim, shape=shape, format=2)
        tensor = racl.new("racl_tensor *", "tensor_new", buffer, layout)
        racl.buffer_free(buffer)
        return tensor

    def __call__(self, x):
        x = np.ascontiguousarray(x, dtype=np.float32)
        racl, c = self.racl, self.racl.c
        racl.bindings_host(self.bindings, self.x, self.TYPE, list(x.shape), x.ndim, ffi.from_buffer(x), x.nbytes)
        racl.executable_run(self.executable, self.stream, self.bindings)
        shape, rank = ffi.new("size_t[8]"), ffi.new("size_t *")
        racl.executable_output_shape(self.executable, self.y, shape, 8, rank, ffi.NULL)
        y = np.empty([shape[at] for at in range(rank[0])], dtype=np.float32)
        racl.executable_read(self.executable, self.y, ffi.from_buffer(y), y.nbytes)
        return y

    def close(self):
        self.racl.bindings_free(self.bindings)
        self.racl.executable_free(self.executable)


def on_the_device(racl, context, stream, w, b):
    """Weights of torch_npu, read where they are: what it writes later is in later runs, and racl's tensor is one of it."""
    import torch
    import torch_npu  # noqa: F401
    from torch.utils.dlpack import from_dlpack

    weights = torch.from_dlpack(w).npu()
    torch.npu.synchronize()  # DLPack has no stream for such devices
    network = Network(racl, context, stream, weights, b)
    x = torch.randn(8, 32)
    for factor in (1, 3):
        y = torch.from_dlpack(network(np.from_dlpack(x)))
        wanted = torch.relu(x @ (torch.from_dlpack(w) * factor) + torch.from_dlpack(b))
        torch.testing.assert_close(y, wanted, rtol=1e-5, atol=1e-5)
        weights.mul_(3)
        torch.npu.synchronize()
    tensor = network.tensor(weights)
    back = from_dlpack(new_capsule(int(ffi.cast("uintptr_t", racl.new("void *", "tensor_to_dlpack", tensor, 0))), b"dltensor", None))
    racl.tensor_free(tensor)
    assert back.device == weights.device and back.data_ptr() == weights.data_ptr(), back
    network.close()
    print("the same with weights of torch_npu where they are")


def main():
    racl = Racl(*sys.argv[1:3])
    library = racl.new("racl_library *", "library_open", ffi.NULL)
    context = racl.new("racl_context *", "context_primary", library, 0)
    stream = racl.new("racl_stream *", "stream_new", context, ffi.NULL)
    random = np.random.default_rng(1)
    w, b = (random.standard_normal(shape, dtype=np.float32) for shape in [(32, 16), (16,)])
    network = Network(racl, context, stream, w, b)
    for rows in (1, 8, 64, 8):
        x = random.standard_normal((rows, 32), dtype=np.float32)
        np.testing.assert_allclose(network(x), np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-5)
        print(f"{rows:2} rows as NumPy has them")
    try:
        network(np.zeros((65, 32)))
        raise SystemExit("65 rows were taken")
    except Failure as failure:
        print(f"65 rows: {str(failure).splitlines()[0]}")
    try:
        import torch
    except ImportError:
        print("no PyTorch here")
    else:
        x = torch.randn(8, 32)
        y = torch.from_dlpack(network(np.from_dlpack(x)))
        torch.testing.assert_close(y, torch.relu(x @ torch.from_dlpack(w) + torch.from_dlpack(b)), rtol=1e-5, atol=1e-5)
        print("the same on tensors of PyTorch")
    if os.environ.get("RACL_LIBRARY") != "mock" and importlib.util.find_spec("torch_npu"):
        on_the_device(racl, context, stream, w, b)
    network.close()
    racl.stream_close(stream)
    racl.context_close(context)
    racl.library_close(library)


main()
