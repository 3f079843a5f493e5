"""Doubles tensors of torch_npu on their device, with racl in the same process:
RACL_LIBRARY=…/libascendcl.so python3 torch_side.py target/debug/examples/libdlpack.so"""

import sys

import torch
import torch_npu  # noqa: F401
from torch.utils.dlpack import from_dlpack

from module import Module

module = Module(sys.argv[1])
tensor = torch.arange(12, dtype=torch.float32).reshape(3, 4).npu()
for given in (tensor, tensor.t(), tensor[:, 1:3], tensor[1]):
    torch.npu.synchronize()  # DLPack has no stream for such devices
    result = from_dlpack(module.double(given))
    assert result.device == given.device and result.shape == given.shape, result
    assert torch.equal(result.cpu(), given.cpu() * 2), result
    assert torch.equal((result + given).cpu(), given.cpu() * 3)  # torch's operators take it
cpu = torch.full((2, 2), 1.5)
assert torch.equal(from_dlpack(module.double(cpu)), cpu * 2)
try:
    module.double(tensor.int())
    raise SystemExit("integers were taken")
except RuntimeError as error:
    assert "as a tensor of F32" in str(error), error
print("PyTorch: 5 tensors doubled, 1 refused")
