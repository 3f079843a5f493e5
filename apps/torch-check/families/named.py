"""Operators that torch_npu calls by name (aclop), and tensors in formats of the card."""

import contextlib
import time

import torch
import torch_npu
from torch import nn

from torchcheck import add, check, close, floats

ND, NC1HWC0, FRACTAL_Z, FRACTAL_NZ = 2, 3, 4, 29
WIDE, HALF, IMAGE = floats(33, 20), floats(33, 20, dtype=torch.float16), floats(2, 20, 3, 5, dtype=torch.float16)
X = floats(4, 20)


@contextlib.contextmanager
def formats():
    torch.npu.config.allow_internal_format = True
    try:
        yield
    finally:
        torch.npu.config.allow_internal_format = False


@contextlib.contextmanager
def compiled():
    """Every operator that has a name goes by it."""
    torch.npu.set_compile_mode(jit_compile=True)
    try:
        with formats():
            yield
    finally:
        torch.npu.set_compile_mode(jit_compile=False)


def there_and_back(tensor, form):
    with formats():
        cast = torch_npu.npu_format_cast(tensor.npu(), form)
        assert torch_npu.get_npu_format(cast) == form
        close(torch_npu.npu_format_cast(cast, ND), tensor)
        close(cast, tensor)


for name, tensor, form in (
    ("nz", WIDE, FRACTAL_NZ),
    ("nz-half", HALF, FRACTAL_NZ),
    ("nz-stack", floats(2, 3, 17, 40, dtype=torch.float16), FRACTAL_NZ),
    ("5hd", IMAGE, NC1HWC0),
    ("fractal-z", IMAGE, FRACTAL_Z),
):
    add(f"named/format-{name}", lambda tensor=tensor, form=form: there_and_back(tensor, form))


def weight(tensor):
    return torch_npu.npu_format_cast(tensor.npu(), FRACTAL_NZ)


@check
def product_of_nz():
    with formats():
        close(X.npu() @ weight(WIDE.t().contiguous()), X @ WIDE.t())


@check
def linear_of_nz():
    with formats():
        close(nn.functional.linear(X.half().npu(), weight(HALF)), nn.functional.linear(X.half(), HALF))


@check
def sum_of_nz():
    with formats():
        close(weight(WIDE) + 1, WIDE + 1)


@check
def module_of_nz():
    torch.manual_seed(0)
    module = nn.Linear(20, 33).half()
    want = module(X.half())
    with formats():
        mine = module.npu()
        mine.weight.data = torch_npu.npu_format_cast(mine.weight.data, FRACTAL_NZ)
        close(mine(X.half().npu()), want)


@check
def convolution_with_formats():
    kernel = floats(4, 20, 3, 3, dtype=torch.float16)
    want = nn.functional.conv2d(IMAGE.float(), kernel.float(), padding=1).half()
    with formats():
        close(nn.functional.conv2d(IMAGE.npu(), kernel.npu(), padding=1), want)


def hidden(x, mask, scale):
    return (x.float() * scale).masked_fill(mask, -1e4).softmax(-1).to(x.dtype)


@check
def scaled_masked_softmax():
    x, mask = floats(2, 3, 32, 64, dtype=torch.float16), floats(2, 1, 32, 64) > 0
    close(torch_npu.npu_scaled_masked_softmax(x.npu(), mask.npu(), 0.5, False), hidden(x, mask, 0.5))


@check
def scaled_masked_softmax_of_a_triangle():
    x, above = floats(2, 3, 32, 32), torch.ones(32, 32).triu(1).bool()
    nothing = torch.zeros(2, 1, 32, 32, dtype=torch.bool)
    close(torch_npu.npu_scaled_masked_softmax(x.npu(), nothing.npu(), 2.0, True), hidden(x, above, 2.0))


DIRECT = {
    "transpose": (lambda x: torch_npu.npu_transpose(x, (1, 0)), lambda x: x.t().contiguous()),
    "pad": (lambda x: torch_npu.npu_pad(x, (1, 2, 3, 0)), lambda x: nn.functional.pad(x, (3, 0, 1, 2))),
    "slice": (lambda x: torch_npu.npu_slice(x, (1, 2), (3, 4)), lambda x: x[1:4, 2:6]),
    "broadcast": (lambda x: torch_npu.npu_broadcast(x[:1], (4, 20)), lambda x: x[:1].expand(4, 20)),
    "batch-product": (lambda x: torch_npu.npu_bmmV2(x[None], x.t()[None], []), lambda x: (x @ x.t())[None]),
}
for name, (on_device, on_host) in DIRECT.items():
    add(f"named/{name}", lambda mine=on_device, want=on_host: close(mine(X.npu()), want(X)))

BY_NAME = {
    "add": lambda x: x + x.flip(0),
    "add-number": lambda x: x + 2,
    "multiply-add": lambda x: torch.add(x, x.flip(1), alpha=3),
    "compare": lambda x: x > x.flip(0),
    "log-2": lambda x: (x.abs() + 1).log2(),
    "activations": lambda x: nn.functional.gelu(x, approximate="tanh").sigmoid().tanh().relu(),
    "softmax": lambda x: x.softmax(-1),
    "log-softmax": lambda x: x.log_softmax(0),
    "sum": lambda x: x.sum(1),
    "mean": lambda x: x.mean(0, keepdim=True),
    "largest": lambda x: x.amax(1),
    "largest-with-place": lambda x: x.max(1)[1],
    "argmax": lambda x: x.argmax(1),
    "topk": lambda x: x.topk(3)[0],
    "sort": lambda x: x.sort(descending=True)[0],
    "product": lambda x: x @ x.t().contiguous(),
    "linear": lambda x: nn.functional.linear(x, x.flip(0), x[:, 0].contiguous()),
    "turn": lambda x: x.t().contiguous(),
    "cat": lambda x: torch.cat([x, x.flip(0)], 1),
    "stack": lambda x: torch.stack([x, x.flip(0)], 1),
    "split": lambda x: x.split(8, 1)[1].contiguous(),
    "steps": lambda x: x[1:3, ::2] + 0,
    "pad-value": lambda x: nn.functional.pad(x, (1, 2, 0, 3), value=1.5),
    "repeat": lambda x: x.repeat(2, 3),
    "where": lambda x: torch.where(x > 0, x, x.flip(0)),
    "masked-fill": lambda x: x.masked_fill(x > 0, -1.0),
    "triangle": lambda x: x.tril() + x.triu(1),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "half": lambda x: x.half(),
}


def wait_for_an_error(limit=30):
    """The task queue of torch_npu is empty a moment before it has the error of its last task, which a wait then misses."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        torch.npu.synchronize()
        time.sleep(0.01)


def by_name(function):
    with compiled():
        close(function(X.npu()), function(X))


for name, function in BY_NAME.items():
    add(f"named/compiled-{name}", lambda function=function: by_name(function))


@check
def unknown_names_say_so():
    with compiled():
        try:
            nn.functional.max_pool2d(IMAGE.npu(), 2)
            wait_for_an_error()
        except RuntimeError as error:
            assert "MaxPoolWithArgmaxV1 is not supported by mock-acl" in str(error)
        else:
            raise AssertionError("it has a name, then")
