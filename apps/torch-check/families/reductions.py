"""Reductions, orders and what walks along a dimension."""

import torch

from torchcheck import add, check, floats, ints, same

WHOLE = "sum mean max min prod std var amax amin median norm logsumexp".split()
ALONG = "sum mean max min prod std var amax amin argmax argmin logsumexp cumsum cumprod cummax cummin any all".split()

for name in WHOLE:
    options = {"dim": (0, 1)} if name == "logsumexp" else {}
    add(f"reductions/{name}", lambda f=getattr(torch, name), o=options: same(lambda x: f(x, **o), floats(4, 7)))
for name in ALONG:
    for dim in (0, -1):
        add(
            f"reductions/{name}-dim{dim}",
            lambda f=getattr(torch, name), d=dim, s=name: same(
                lambda x: f(x > 0 if s in ("any", "all") else x, dim=d), floats(4, 7)
            ),
        )
for name in "sum mean amax logsumexp std cumsum max".split():
    add(f"reductions/{name}-grad", lambda f=getattr(torch, name): same(lambda x: f(x, dim=1), floats(4, 7), grad=True))

OTHERS = {
    "sum-keepdim": lambda: same(lambda x: x.sum((0, 2), keepdim=True), floats(3, 4, 5)),
    "sum-half": lambda: same(lambda x: x.sum(), floats(3, 40, dtype=torch.float16)),
    "sum-ints": lambda: same(lambda x: x.sum(), ints(3, 40)),
    "sum-of-bools": lambda: same(lambda x: (x > 0).sum(), floats(3, 40)),
    "sum-to-type": lambda: same(lambda x: x.sum(dtype=torch.float32), floats(3, 4, dtype=torch.float16)),
    "sum-empty": lambda: same(lambda x: x.sum(), floats(0, 4)),
    "mean-keepdim": lambda: same(lambda x: x.mean((1, 2), keepdim=True), floats(3, 4, 5)),
    "var-mean": lambda: same(lambda x: torch.var_mean(x, dim=1), floats(4, 7)),
    "std-mean": lambda: same(lambda x: torch.std_mean(x, dim=1), floats(4, 7)),
    "var-population": lambda: same(lambda x: x.var(dim=1, correction=0), floats(4, 7)),
    "norm-1": lambda: same(lambda x: x.norm(p=1, dim=1), floats(4, 7)),
    "norm-inf": lambda: same(lambda x: torch.linalg.vector_norm(x, float("inf")), floats(4, 7)),
    "norm-matrix": lambda: same(torch.linalg.norm, floats(4, 7)),
    "any-whole": lambda: same(lambda x: (x > 1).any(), floats(4, 7)),
    "all-whole": lambda: same(lambda x: (x > -3).all(), floats(4, 7)),
    "count-nonzero": lambda: same(lambda x: torch.count_nonzero(x.relu()), floats(4, 7)),
    "argmax-whole": lambda: same(torch.argmax, floats(4, 7)),
    "aminmax": lambda: same(lambda x: tuple(torch.aminmax(x, dim=1)), floats(4, 7)),
    "nansum": lambda: same(torch.nansum, torch.tensor([1.0, float("nan"), 3.0])),
    "nanmean": lambda: same(torch.nanmean, torch.tensor([1.0, float("nan"), 3.0])),
    "median-dim": lambda: same(lambda x: tuple(torch.median(x, dim=1)), floats(4, 7)),
    "kthvalue": lambda: same(lambda x: tuple(torch.kthvalue(x, 3, dim=1)), floats(4, 7)),
    "mode": lambda: same(lambda x: tuple(torch.mode(x, dim=1)), ints(4, 7, low=0, high=3)),
    "quantile": lambda: same(lambda x: torch.quantile(x, 0.4), floats(4, 7)),
    "sort": lambda: same(lambda x: tuple(torch.sort(x, dim=1)), floats(4, 7)),
    "sort-descending": lambda: same(lambda x: tuple(torch.sort(x, dim=0, descending=True)), floats(4, 7)),
    "sort-stable": lambda: same(lambda x: tuple(torch.sort(x, dim=1, stable=True)), ints(4, 70, low=0, high=5)),
    "argsort": lambda: same(lambda x: torch.argsort(x, dim=1), floats(4, 7)),
    "topk": lambda: same(lambda x: tuple(torch.topk(x, 3, dim=1)), floats(4, 7)),
    "topk-smallest": lambda: same(lambda x: tuple(torch.topk(x, 3, dim=0, largest=False)), floats(4, 7)),
    "topk-grad": lambda: same(lambda x: torch.topk(x, 3, dim=1).values, floats(4, 7), grad=True),
    "unique": lambda: same(torch.unique, ints(40)),
    "unique-inverse": lambda: same(lambda x: torch.unique(x, return_inverse=True, return_counts=True), ints(40)),
    "unique-consecutive": lambda: same(torch.unique_consecutive, ints(40, low=0, high=3)),
    "bincount": lambda: same(torch.bincount, ints(40, low=0)),
    "histc": lambda: same(lambda x: torch.histc(x, bins=5, min=-2, max=2), floats(40)),
    "bucketize": lambda: same(torch.bucketize, floats(40), torch.tensor([-1.0, 0.0, 1.0])),
    "searchsorted": lambda: same(torch.searchsorted, torch.tensor([-1.0, 0.0, 1.0]), floats(40)),
    "diff": lambda: same(torch.diff, floats(4, 7)),
    "trapezoid": lambda: same(torch.trapezoid, floats(4, 7)),
    "cross": lambda: same(lambda x, y: torch.linalg.cross(x, y), floats(4, 3), floats(4, 3, seed=1)),
    "cdist": lambda: same(torch.cdist, floats(4, 3), floats(5, 3, seed=1)),
    "dist": lambda: same(torch.dist, floats(4, 3), floats(4, 3, seed=1)),
    "logcumsumexp": lambda: same(lambda x: torch.logcumsumexp(x, dim=1), floats(4, 7)),
    "renorm": lambda: same(lambda x: torch.renorm(x, 2, 0, 1.0), floats(4, 7)),
}
for name, function in OTHERS.items():
    add(f"reductions/{name}", function)


@check
def item():
    assert torch.ones(3, device="npu").sum().item() == 3.0


@check
def truth():
    assert bool((torch.ones(3, device="npu") > 0).all())
