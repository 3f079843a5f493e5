"""Views, joins, indexing and what makes tensors."""

import torch

from torchcheck import add, floats, ints, on_both, same

CUBE = floats(3, 4, 5)
VIEWS = {
    "view": lambda x: x.view(12, 5),
    "reshape": lambda x: x.transpose(0, 1).reshape(-1),
    "transpose": lambda x: x.transpose(0, 2).contiguous(),
    "permute": lambda x: x.permute(2, 0, 1).contiguous(),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(1, (2, 2)),
    "squeeze": lambda x: x[:1].squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "expand": lambda x: x[:, :1].expand(3, 4, 5).contiguous(),
    "slice": lambda x: x[1:, ::2, -3:].contiguous(),
    "select": lambda x: x[1].clone(),
    "narrow": lambda x: x.narrow(1, 1, 2) + 1,
    "diagonal": lambda x: x.diagonal(dim1=0, dim2=1).contiguous(),
    "unfold": lambda x: x.unfold(2, 2, 1).contiguous(),
    "movedim": lambda x: x.movedim(0, -1).contiguous(),
    "swapaxes": lambda x: x.swapaxes(0, 1).contiguous(),
    "as-strided": lambda x: x.as_strided((2, 3), (5, 2)).contiguous(),
    "chunk": lambda x: [part.clone() for part in x.chunk(2, dim=1)],
    "split": lambda x: [part.clone() for part in x.split([1, 3], dim=1)],
    "unbind": lambda x: [part.clone() for part in x.unbind(1)],
    "repeat": lambda x: x.repeat(2, 1, 3),
    "tile": lambda x: x.tile(2, 1),
    "repeat-interleave": lambda x: x.repeat_interleave(2, dim=1),
    "flip": lambda x: x.flip(0, 2),
    "roll": lambda x: x.roll((1, 2), (0, 2)),
    "rot90": lambda x: x.rot90(1, (0, 1)),
    "tril": lambda x: x.tril(),
    "triu": lambda x: x.triu(1),
    "cat": lambda x: torch.cat([x, x * 2], dim=1),
    "stack": lambda x: torch.stack([x, x * 2], dim=1),
    "hstack": lambda x: torch.hstack([x, x]),
    "vstack": lambda x: torch.vstack([x, x]),
    "pad-constant": lambda x: torch.nn.functional.pad(x, (1, 2), value=3.0),
    "pad-reflect": lambda x: torch.nn.functional.pad(x, (1, 2), mode="reflect"),
    "pad-replicate": lambda x: torch.nn.functional.pad(x, (1, 2), mode="replicate"),
    "index-list": lambda x: x[[2, 0]],
    "index-two": lambda x: x[[2, 0], [1, 3]],
    "index-none": lambda x: x[:, None].contiguous(),
    "index-mask": lambda x: x[x > 0],
    "index-mask-of-none": lambda x: x[x > 9],
    "index-nothing": lambda x: x[torch.zeros(0, dtype=torch.int64, device=x.device)],
    "index-ellipsis": lambda x: x[..., 1].contiguous(),
}
for name, function in VIEWS.items():
    add(f"shapes/{name}", lambda f=function: same(f, CUBE))
for name in "reshape transpose permute expand slice cat stack repeat index-list unfold flip split chunk tril".split():
    add(f"shapes/{name}-grad", lambda f=VIEWS[name]: same(f, CUBE, grad=True))

ROWS = torch.tensor([2, 0, 1, 2])


def setting(change):
    def run(x, *more):
        x = x.clone()
        change(x, *more)
        return x

    return run


INDEXED = {
    "index-select": lambda: same(lambda x, i: x.index_select(0, i), CUBE, ROWS),
    "index-select-grad": lambda: same(lambda x, i: x.index_select(0, i), CUBE, ROWS, grad=True),
    "index-tensor": lambda: same(lambda x, i: x[i], CUBE, ROWS),
    "index-tensor-grad": lambda: same(lambda x, i: x[i], CUBE, ROWS, grad=True),
    "gather": lambda: same(lambda x, i: x.gather(1, i), floats(3, 4), ints(3, 2, low=0, high=4)),
    "gather-grad": lambda: same(lambda x, i: x.gather(1, i), floats(3, 4), ints(3, 2, low=0, high=4), grad=True),
    "take": lambda: same(torch.take, CUBE, ROWS),
    "take-along-dim": lambda: same(lambda x, i: torch.take_along_dim(x, i, 1), floats(3, 4), ints(3, 2, low=0, high=4)),
    "masked-select": lambda: same(lambda x: x.masked_select(x > 0), CUBE),
    "nonzero": lambda: same(lambda x: (x > 0).nonzero(), CUBE),
    "nonzero-tuple": lambda: same(lambda x: (x > 0).nonzero(as_tuple=True), CUBE),
    "set-slice": lambda: same(setting(lambda x: x[1:].fill_(7)), CUBE),
    "set-row": lambda: same(setting(lambda x: x.__setitem__(1, x[0] * 2)), CUBE),
    "set-mask": lambda: same(setting(lambda x: x.__setitem__(x > 0, 5.0)), CUBE),
    "set-mask-of-none": lambda: same(setting(lambda x: x.__setitem__(x > 9, 5.0)), CUBE),
    "set-nothing": lambda: same(setting(lambda x, i: x.__setitem__(i, 5.0)), CUBE, torch.zeros(0, dtype=torch.int64)),
    "set-nothing-across": lambda: same(
        setting(lambda x, i: x.__setitem__((slice(None), i), 5.0)), CUBE, torch.zeros(0, dtype=torch.int64)
    ),
    "add-nothing": lambda: same(
        setting(lambda x, i, v: x.index_put_((i,), v, accumulate=True)),
        floats(3, 4),
        torch.zeros(0, dtype=torch.int64),
        torch.ones(()),
    ),
    "set-index": lambda: same(setting(lambda x, i: x.__setitem__(i, 5.0)), CUBE, torch.tensor([0, 2])),
    "index-put-add": lambda: same(
        setting(lambda x, i, v: x.index_put_((i,), v, accumulate=True)), floats(3, 4), ROWS, floats(4, 4)
    ),
    "index-add": lambda: same(lambda x, i, v: x.index_add(0, i, v), floats(3, 4), ROWS, floats(4, 4)),
    "index-copy": lambda: same(lambda x, i, v: x.index_copy(0, i, v), floats(3, 4), torch.tensor([2, 0]), floats(2, 4)),
    "index-fill": lambda: same(lambda x, i: x.index_fill(0, i, 9.0), floats(3, 4), torch.tensor([2, 0])),
    "scatter": lambda: same(
        lambda x, i, v: x.scatter(1, i, v), floats(3, 4), torch.tensor([[0], [3], [1]]), floats(3, 1)
    ),
    "scatter-value": lambda: same(lambda x, i: x.scatter(1, i, 1.0), floats(3, 4), torch.tensor([[0], [3], [1]])),
    "scatter-add": lambda: same(
        lambda x, i, v: x.scatter_add(1, i, v), floats(3, 4), ints(3, 6, low=0, high=4), floats(3, 6)
    ),
    "scatter-reduce": lambda: same(
        lambda x, i, v: x.scatter_reduce(0, i, v, "sum"), floats(3), ints(6, low=0, high=3), floats(6)
    ),
    "masked-scatter": lambda: same(lambda x, v: x.masked_scatter(x > 0, v), floats(3, 4), floats(12)),
    "put": lambda: same(lambda x, i, v: x.put(i, v), floats(3, 4), torch.tensor([1, 5]), floats(2)),
    "combinations": lambda: same(torch.combinations, floats(4)),
    "meshgrid": lambda: same(lambda x, y: torch.meshgrid(x, y, indexing="ij"), floats(3), floats(4)),
    "cartesian-prod": lambda: same(torch.cartesian_prod, floats(3), floats(4)),
    "diag": lambda: same(torch.diag, floats(4)),
    "diag-embed": lambda: same(torch.diag_embed, floats(2, 3)),
    "trace": lambda: same(torch.trace, floats(4, 4)),
    "one-hot": lambda: same(lambda i: torch.nn.functional.one_hot(i, 5), ROWS),
    "pixel-shuffle": lambda: same(lambda x: torch.nn.functional.pixel_shuffle(x, 2), floats(1, 4, 3, 3)),
    "isin": lambda: same(torch.isin, ints(3, 4), torch.tensor([1, 2])),
}
for name, function in INDEXED.items():
    add(f"shapes/{name}", function)

MADE = {
    "zeros": lambda d: torch.zeros(3, 4, device=d),
    "ones": lambda d: torch.ones(3, 4, device=d, dtype=torch.float16),
    "full": lambda d: torch.full((3, 4), 2.5, device=d),
    "empty": lambda d: list(torch.empty(3, 4, device=d).shape),
    "arange": lambda d: torch.arange(7, device=d),
    "arange-step": lambda d: torch.arange(1, 2, 0.25, device=d),
    "linspace": lambda d: torch.linspace(0, 1, 11, device=d),
    "logspace": lambda d: torch.logspace(0, 2, 5, device=d),
    "eye": lambda d: torch.eye(3, 5, device=d),
    "tensor": lambda d: torch.tensor([[1, 2], [3, 4]], device=d),
    "scalar-tensor": lambda d: torch.tensor(3.5, device=d),
    "zeros-like": lambda d: torch.zeros_like(torch.ones(3, 4, device=d)),
    "ones-like": lambda d: torch.ones_like(torch.zeros(3, 4, device=d)),
    "full-like": lambda d: torch.full_like(torch.zeros(3, 4, device=d), 7.0),
    "new-zeros": lambda d: torch.ones(3, device=d).new_zeros(2, 2),
    "new-tensor": lambda d: torch.ones(3, device=d).new_tensor([1.0, 2.0]),
    "tril-indices": lambda d: torch.tril_indices(4, 4, device=d),
    "fill": lambda d: torch.empty(3, 4, device=d).fill_(2.0),
    "range-of-bools": lambda d: torch.ones(3, device=d, dtype=torch.bool),
}
for name, function in MADE.items():
    add(f"shapes/make-{name}", lambda f=function: on_both(f))
