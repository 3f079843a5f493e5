"""Runs a function on the CPU and on the device and compares what comes out."""

import copy

import torch
from torch.utils import _pytree as trees

TOLERANCES = {
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (3e-2, 3e-2),
    torch.float32: (1e-4, 1e-5),
    torch.complex64: (1e-4, 1e-5),
}


def floats(*shape, low=-2.0, high=2.0, dtype=torch.float32, seed=0):
    numbers = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=numbers) * (high - low) + low).to(dtype)


def ints(*shape, low=-9, high=10, dtype=torch.int64, seed=0):
    numbers = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=numbers).to(dtype)


def close(got, want, rtol=None, atol=None):
    """Both may be trees of tensors; types and shapes are the same, too."""
    got, form = trees.tree_flatten(got)
    want, expected = trees.tree_flatten(want)
    assert form == expected, f"{form} instead of {expected}"
    for one, other in zip(got, want):
        if not isinstance(other, torch.Tensor):
            assert one == other, f"{one} instead of {other}"
            continue
        relative, absolute = TOLERANCES.get(other.dtype, (0, 0))
        torch.testing.assert_close(
            one.detach().cpu(),
            other.detach().cpu(),
            rtol=relative if rtol is None else rtol,
            atol=absolute if atol is None else atol,
            equal_nan=True,
        )


def place(tree, device, grad=False):
    def move(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        fresh = leaf.detach().clone(memory_format=torch.preserve_format).to(device)
        return fresh.requires_grad_(grad and fresh.is_floating_point())

    return trees.tree_map(move, tree)


def backward(outputs):
    """From a sum in which each element has a weight of its own; a plain one hides permuted gradients."""
    leaves = [leaf for leaf in trees.tree_leaves(outputs) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    weights = [floats(*leaf.shape, seed=7).to(leaf.device, leaf.dtype) for leaf in leaves]
    torch.autograd.backward(leaves, weights)


def outcome(function, inputs, device, grad):
    mine = place(inputs, device, grad)
    outputs = function(*mine)
    if not grad:
        return outputs, mine
    backward(outputs)
    leaves = trees.tree_leaves(mine)
    return outputs, [leaf.grad for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.grad is not None]


def same(function, *inputs, grad=False, rtol=None, atol=None):
    """`function` gives the same for tensors on both; what it writes into its inputs counts as well."""
    close(outcome(function, inputs, "npu", grad), outcome(function, inputs, "cpu", grad), rtol, atol)


def on_both(function, rtol=None, atol=None):
    """`function` takes a device and gives the same for both."""
    close(function("npu"), function("cpu"), rtol, atol)


def same_module(make, *inputs, rtol=1e-3, atol=1e-4, grad=True):
    """A module with the same weights: outputs, gradients of inputs and of weights, buffers afterwards."""
    torch.manual_seed(0)
    module = make()

    def run(device):
        mine = copy.deepcopy(module).to(device)
        outputs, gradients = outcome(mine, inputs, device, grad)
        weights = {name: weight.grad for name, weight in mine.named_parameters() if weight.grad is not None}
        return outputs, gradients if grad else None, weights, dict(mine.named_buffers())

    close(run("npu"), run("cpu"), rtol, atol)
