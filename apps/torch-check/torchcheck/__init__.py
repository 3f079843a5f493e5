"""Small programs for torch_npu, each compared with PyTorch on the CPU."""

from torchcheck.compare import close, floats, ints, on_both, same, same_module
from torchcheck.registry import add, check

__all__ = ["add", "check", "close", "floats", "ints", "on_both", "same", "same_module"]
