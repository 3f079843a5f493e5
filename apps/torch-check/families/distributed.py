"""torch.distributed on two and on four processes, a device each."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from torchcheck import add, close, floats
from torchcheck.ranks import TOGETHER, together, told


def mine(rank, *shape):
    return floats(*shape, seed=rank)


def all_of(size, *shape):
    return [mine(rank, *shape) for rank in range(size)]


@together
def the_world(rank, size):
    assert dist.get_rank() == rank and dist.get_world_size() == size and dist.get_backend() == "hccl"


@together
def a_barrier(rank, size):
    dist.barrier()


@together
def all_reduce(rank, size):
    x = mine(rank, 5, 7).npu()
    dist.all_reduce(x)
    close(x, sum(all_of(size, 5, 7)))


@together
def all_reduce_max(rank, size):
    x = mine(rank, 5, 7).npu()
    dist.all_reduce(x, op=dist.ReduceOp.MAX)
    close(x, torch.stack(all_of(size, 5, 7)).amax(0))


@together
def all_reduce_ints(rank, size):
    x = torch.full((9,), rank + 1, device="npu")
    dist.all_reduce(x)
    close(x, torch.full((9,), size * (size + 1) // 2))


@together
def all_reduce_half(rank, size):
    x = torch.full((9,), rank + 1.0, device="npu", dtype=torch.float16)
    dist.all_reduce(x)
    close(x, torch.full((9,), size * (size + 1) / 2, dtype=torch.float16))


@together
def all_reduce_later(rank, size):
    x = mine(rank, 100, 70).npu()
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    close(x, sum(all_of(size, 100, 70)))


@together
def broadcast(rank, size):
    x = mine(rank, 5, 7).npu()
    dist.broadcast(x, src=1)
    close(x, mine(1, 5, 7))


@together
def all_gather(rank, size):
    parts = [torch.empty(5, 7, device="npu") for _ in range(size)]
    dist.all_gather(parts, mine(rank, 5, 7).npu())
    close(parts, all_of(size, 5, 7))


@together
def all_gather_into_tensor(rank, size):
    out = torch.empty(size * 5, 7, device="npu")
    dist.all_gather_into_tensor(out, mine(rank, 5, 7).npu())
    close(out, torch.cat(all_of(size, 5, 7)))


@together
def reduce_scatter_tensor(rank, size):
    out = torch.empty(5, 7, device="npu")
    dist.reduce_scatter_tensor(out, mine(rank, size * 5, 7).npu())
    close(out, sum(all_of(size, size * 5, 7)).chunk(size)[rank])


@together
def reduce_to_one(rank, size):
    x = mine(rank, 5, 7).npu()
    dist.reduce(x, dst=0)
    if rank == 0:
        close(x, sum(all_of(size, 5, 7)))


@together
def scatter(rank, size):
    out = torch.empty(5, 7, device="npu")
    dist.scatter(out, [part.npu() for part in all_of(size, 5, 7)] if rank == 0 else None, src=0)
    close(out, mine(rank, 5, 7))


@together
def all_to_all_single(rank, size):
    out = torch.empty(size * 2, 3, device="npu")
    dist.all_to_all_single(out, mine(rank, size * 2, 3).npu())
    close(out, torch.cat([part.chunk(size)[rank] for part in all_of(size, size * 2, 3)]))


@together
def all_to_all_uneven(rank, size):
    """Each gives rank + 1 rows to each."""
    out = torch.empty(sum(range(1, size + 1)), 3, device="npu")
    x = torch.full((size * (rank + 1), 3), float(rank), device="npu")
    dist.all_to_all_single(out, x, list(range(1, size + 1)), [rank + 1] * size)
    close(out, torch.cat([torch.full((one + 1, 3), float(one)) for one in range(size)]))


@together
def send_and_receive(rank, size):
    x = mine(rank, 5, 7).npu()
    if rank == 0:
        dist.send(x, dst=1)
    elif rank == 1:
        dist.recv(x, src=0)
        close(x, mine(0, 5, 7))


@together
def a_ring(rank, size):
    x, y = mine(rank, 5, 7).npu(), torch.empty(5, 7, device="npu")
    operations = [dist.P2POp(dist.isend, x, (rank + 1) % size), dist.P2POp(dist.irecv, y, (rank - 1) % size)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    close(y, mine((rank - 1) % size, 5, 7))


@together
def a_smaller_group(rank, size):
    group = dist.new_group([0, 1])
    if rank < 2:
        x = mine(rank, 5, 7).npu()
        dist.all_reduce(x, group=group)
        close(x, sum(all_of(2, 5, 7)))


@together
def objects(rank, size):
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank})
    assert found == [{"rank": each} for each in range(size)]


@together
def on_a_side_stream(rank, size):
    stream = torch.npu.Stream()
    x = mine(rank, 50, 70).npu()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        dist.all_reduce(x)
        x = x * 2
    stream.synchronize()
    close(x, sum(all_of(size, 50, 70)) * 2)


def net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 2))


def steps(model, inputs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in inputs:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()


@together
def ddp_is_one_process(rank, size):
    """Weights after three steps are those of one process with all batches."""
    whole = [floats(4 * size, 6, seed=seed) for seed in range(3)]
    model = DistributedDataParallel(net().npu(), device_ids=[rank])
    steps(model, [x.chunk(size)[rank].npu() for x in whole])
    plain = net()
    steps(plain, whole)
    close(model.module.state_dict(), plain.state_dict(), 1e-3, 1e-4)


@together
def ddp_without_synchronisation(rank, size):
    model = DistributedDataParallel(net().npu(), device_ids=[rank])
    with model.no_sync():
        model(mine(rank, 4, 6).npu()).sum().backward()
    model(mine(rank, 4, 6).npu()).sum().backward()
    plain = net()
    for each in range(size):
        (plain(mine(each, 4, 6)).sum() * 2 / size).backward()
    close([p.grad for p in model.parameters()], [p.grad for p in plain.parameters()], 1e-3, 1e-4)


for world in (2, 4):
    for name in TOGETHER:
        add(f"distributed/{name}-{world}", lambda n=name, w=world: told(w, n))
