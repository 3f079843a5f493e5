"""DataLoader with workers, and batches that go to the device."""

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from torchcheck import add, check, close, floats


class Squares(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        return torch.full((3,), float(index)), index * index


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(range(20))


class Broken(Squares):
    def __getitem__(self, index):
        if index == 7:
            raise ValueError("the seventh is broken")
        return super().__getitem__(index)


def walk(**options):
    """With work on the device before and between the batches."""
    torch.ones(2).npu().add_(1)
    seen = []
    for x, y in DataLoader(Squares(), batch_size=8, **options):
        device = x.to("npu", non_blocking=True)
        close(device * 2, x * 2)
        seen += y.tolist()
    assert sorted(seen) == [n * n for n in range(40)]


OPTIONS = {
    "no-workers": {},
    "two-workers": {"num_workers": 2},
    "shuffled": {"num_workers": 2, "shuffle": True},
    "persistent": {"num_workers": 2, "persistent_workers": True},
    "prefetching": {"num_workers": 1, "prefetch_factor": 4},
    "forked": {"num_workers": 2, "multiprocessing_context": "fork"},
    "spawned": {"num_workers": 1, "multiprocessing_context": "spawn"},
    "pinned": {"pin_memory": True},
    "pinned-workers": {"num_workers": 2, "pin_memory": True},
}
for name, options in OPTIONS.items():
    add(f"loading/{name}", lambda o=options: walk(**o))


@check
def two_epochs():
    for _ in range(2):
        walk(num_workers=2)


@check
def iterable():
    got = torch.cat(list(DataLoader(Numbers(), batch_size=5, num_workers=1)))
    close(got.npu() + 1, torch.arange(20) + 1)


@check
def tensors():
    loader = DataLoader(TensorDataset(floats(20, 4)), batch_size=5, num_workers=2)
    close(torch.cat([x.npu() for (x,) in loader]), floats(20, 4))


@check
def a_worker_fails():
    try:
        list(DataLoader(Broken(), num_workers=2))
    except ValueError as error:
        assert "the seventh is broken" in str(error)
    else:
        raise AssertionError("no error")
    close(torch.ones(2).npu() + 1, torch.full((2,), 2.0))


@check
def training_from_a_loader():
    net = torch.nn.Linear(3, 1).npu()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
    for x, y in DataLoader(Squares(), batch_size=8, num_workers=2, pin_memory=True):
        optimizer.zero_grad()
        ((net(x.npu()).squeeze(1) - y.npu()) ** 2).mean().backward()
        optimizer.step()
    assert torch.isfinite(net.weight).all()
