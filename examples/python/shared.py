"""What the programs here share: inputs that examples/10_beside_torch.rs defines likewise, and where results go."""

import os
import sys

import numpy
import torch
import torch_npu  # noqa: F401

N = 256  # rows and columns of the matrices
FOLDER = sys.argv[1] if len(sys.argv) > 1 else None


def numbers(seed, *shape):
    """From -0.5 up to 0.5, exact in 32-bit floats: the upper 24 bits of the index times a constant."""
    index = numpy.arange(1, numpy.prod(shape) + 1, dtype=numpy.uint32)
    bits = index * numpy.uint32(2654435761) + numpy.uint32(seed * 40503001 % 2**32)
    exact = (bits >> numpy.uint32(8)).astype(numpy.float32) / numpy.float32(16777216) - numpy.float32(0.5)
    return torch.from_numpy(exact.reshape(shape))


def keep(name, found, expected):
    """Prints a result, fails unless it is near `expected`, which PyTorch's CPU computed, and writes its bytes."""
    found = found.cpu()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    flat = found.numpy().ravel()
    print(f"{name:<26} {flat[0]:>14.9g} {flat[-1]:>14.9g}")
    if FOLDER:
        flat.astype("<f4").tofile(os.path.join(FOLDER, f"{name}.f32"))
