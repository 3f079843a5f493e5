"""Copies between host and device, types, printing, sparse and random tensors."""

import copy
import io

import numpy
import torch

from torchcheck import add, check, close, floats, ints, on_both, same

TYPES = "float32 float16 bfloat16 int8 uint8 int16 int32 int64 bool complex64".split()
for name in TYPES:
    add(f"copies/there-and-back-{name}", lambda t=getattr(torch, name): there_and_back(t))
for left in "float32 float16 bfloat16 int32 int64 bool uint8".split():
    for right in "float32 float16 int64 bool int8".split():
        if left != right:
            types = getattr(torch, left), getattr(torch, right)
            add(
                f"copies/{left}-to-{right}",
                lambda t=types: same(lambda x: x.to(t[1]), ints(3, 4, low=0, high=9).to(t[0])),
            )


def there_and_back(kind):
    x = ints(5, 7, low=0, high=3).to(kind)
    close(x.npu().cpu(), x, 0, 0)
    close(x.npu().t().contiguous().cpu(), x.t().contiguous(), 0, 0)


@check
def pinned_and_not_waiting():
    x = floats(100, 100).pin_memory()
    assert x.is_pinned()
    y = x.to("npu", non_blocking=True)
    torch.npu.synchronize()
    close(y, x)


@check
def pinned_back():
    x, y = floats(100, 100).npu(), torch.empty(100, 100, pin_memory=True)
    y.copy_(x, non_blocking=True)
    torch.npu.synchronize()
    close(x, y)


@check
def strided_host_to_device():
    x = floats(6, 8)
    close(x.t().npu(), x.t())
    close(x[::2, 1::3].npu(), x[::2, 1::3])


@check
def strided_device_to_host():
    x = floats(6, 8)
    close(x.npu()[::2, 1::3].cpu(), x[::2, 1::3])


@check
def into_a_slice():
    x = torch.zeros(6, 8, device="npu")
    x[2:4, ::2].copy_(floats(2, 4))
    want = torch.zeros(6, 8)
    want[2:4, ::2] = floats(2, 4)
    close(x, want)


@check
def device_to_device():
    x = floats(6, 8)
    close(x.npu().clone(), x)
    close(torch.empty(6, 8, device="npu").copy_(x.npu()), x)


@check
def between_devices():
    x = floats(6, 8)
    y = x.to("npu:0").to("npu:1")
    assert y.device.index == 1
    close(y, x)
    close((y + 1).to("npu:0"), x + 1)


@check
def large_copy():
    x = floats(2000, 2000)
    close(x.npu().cpu(), x, 0, 0)


@check
def empty_copy():
    assert torch.empty(0, 3).npu().cpu().shape == (0, 3)


@check
def numpy_both_ways():
    x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    assert (torch.from_numpy(x).npu().cpu().numpy() == x).all()


@check
def to_list():
    assert torch.arange(4, device="npu").tolist() == [0, 1, 2, 3]


@check
def printed():
    assert "npu:0" in repr(torch.arange(4, device="npu") * 1.5)


@check
def deep_copy():
    x = floats(3).npu()
    y = copy.deepcopy(x)
    y.add_(1)
    close(x, floats(3))


@check
def saved():
    file = io.BytesIO()
    torch.save(floats(3).npu(), file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded.device.type == "npu"
    close(loaded, floats(3))


@check
def resized():
    x = torch.empty(0, device="npu")
    x.resize_(3, 4).fill_(2)
    close(x, torch.full((3, 4), 2.0))


@check
def storage_is_shared_by_views():
    x = torch.zeros(4, device="npu")
    x[1:].view(-1).fill_(3)
    close(x, torch.tensor([0.0, 3, 3, 3]))


@check
def set_from_storage():
    x = torch.arange(6.0, device="npu")
    y = torch.empty(0, device="npu").set_(x.untyped_storage(), 2, (2, 2))
    close(y, torch.tensor([[2.0, 3], [4, 5]]))


@check
def type_of_a_result():
    on_both(lambda d: (ints(3).to(d) / 2).dtype)
    on_both(lambda d: (ints(3, dtype=torch.int32).to(d) + 1.5).dtype)


@check
def double_becomes_float():
    assert torch.ones(2, dtype=torch.float64).npu().float().cpu().eq(1).all()


@check
def random_is_repeated():
    torch.npu.manual_seed(5)
    first = torch.rand(100, device="npu").cpu()
    torch.npu.manual_seed(5)
    close(torch.rand(100, device="npu"), first, 0, 0)


@check
def random_state():
    state = torch.npu.get_rng_state()
    first = torch.rand(100, device="npu").cpu()
    torch.npu.set_rng_state(state)
    close(torch.rand(100, device="npu"), first, 0, 0)


def within(make, low, high, mean, off=0.1):
    x = make().float().cpu()
    assert x.min() >= low and x.max() <= high, (x.min(), x.max())
    assert abs(x.mean() - mean) < off, x.mean()


SIZE = 20000
RANDOM = {
    "rand": lambda: within(lambda: torch.rand(SIZE, device="npu"), 0, 1, 0.5),
    "uniform": lambda: within(lambda: torch.empty(SIZE, device="npu").uniform_(-1, 3), -1, 3, 1),
    "randn": lambda: within(lambda: torch.randn(SIZE, device="npu"), -9, 9, 0),
    "normal": lambda: within(lambda: torch.empty(SIZE, device="npu").normal_(2, 0.5), -3, 7, 2),
    "normal-tensors": lambda: within(
        lambda: torch.normal(torch.ones(SIZE, device="npu"), torch.ones(SIZE, device="npu")), -9, 9, 1
    ),
    "randint": lambda: within(lambda: torch.randint(0, 10, (SIZE,), device="npu"), 0, 9, 4.5, 0.3),
    "bernoulli": lambda: within(lambda: torch.empty(SIZE, device="npu").bernoulli_(0.3), 0, 1, 0.3),
    "bernoulli-tensor": lambda: within(lambda: torch.bernoulli(torch.full((SIZE,), 0.3, device="npu")), 0, 1, 0.3),
    "exponential": lambda: within(lambda: torch.empty(SIZE, device="npu").exponential_(1), 0, 99, 1),
    "random": lambda: within(lambda: torch.empty(SIZE, device="npu").random_(0, 10), 0, 9, 4.5, 0.3),
    "dropout": lambda: within(lambda: torch.dropout(torch.ones(SIZE, device="npu"), 0.4, True), 0, 1.67, 1),
    "multinomial": lambda: within(
        lambda: torch.multinomial(torch.tensor([0.5, 0.5], device="npu"), SIZE, True), 0, 1, 0.5
    ),
}
for name, function in RANDOM.items():
    add(f"copies/random-{name}", function)


@check
def random_permutation():
    assert sorted(torch.randperm(50, device="npu").tolist()) == list(range(50))


@check
def dropout_keeps_its_mask():
    x = torch.ones(1000, device="npu", requires_grad=True)
    y = torch.dropout(x, 0.5, True)
    y.sum().backward()
    close(x.grad, y)


@check
def dlpack():
    x = floats(3).npu()
    close(torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)), floats(3))


@check
def isclose_of_devices_is_an_error():
    try:
        torch.ones(2).add(torch.ones(2, device="npu"))
    except RuntimeError as error:
        assert "device" in str(error)
    else:
        raise AssertionError("tensors of two devices were added")
