"""Doubles arrays of NumPy on the device: python3 numpy_side.py target/debug/examples/libdlpack.so"""

import gc
import sys

import numpy

from module import Module, OnHost

module = Module(sys.argv[1])
array = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
for given in (array, array.T, array[:, 1:3], array[1], numpy.ones((1, 1, 1, 1), numpy.float32)):
    result = numpy.from_dlpack(OnHost(module.double(given)))
    assert result.shape == given.shape, (result.shape, given.shape)
    assert (result == given * 2).all(), result
for given, text in ((array.astype(numpy.int32), "DLDataType"), (array[:0], "no elements"), (array[::-1], "below zero")):
    try:
        module.double(given)
        raise SystemExit(f"{given!r} was taken")
    except RuntimeError as error:
        assert text in str(error), error

# The memory of either side goes with the last that uses it.
result = numpy.from_dlpack(OnHost(module.double(numpy.full(1000, 3, numpy.float32))))
gc.collect()
assert (result == 6).all()
for _ in range(1000):
    numpy.from_dlpack(OnHost(module.double(numpy.zeros((256, 256), numpy.float32))))
print("NumPy: 1005 arrays doubled, 3 refused")
