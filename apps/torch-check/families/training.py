"""Autograd, optimizers, whole steps of training, mixed precision."""

import copy

import torch
from torch import nn

from torchcheck import add, check, close, floats, ints, on_both, same


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


def train(make, device, steps=3, schedule=None):
    net = model().to(device)
    optimizer = make(net.parameters())
    scheduler = schedule(optimizer) if schedule else None
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(floats(6, 8, seed=step).to(device)), floats(6, 4, seed=9).to(device))
        loss.backward()
        optimizer.step()
        if scheduler:
            scheduler.step()
        losses.append(loss.detach())
    return losses, net.state_dict()


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd-momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "sgd-nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adam-loop": lambda p: torch.optim.Adam(p, lr=0.01, foreach=False),
    "adam-amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adamw-loop": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=False),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "adadelta": lambda p: torch.optim.Adadelta(p),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.01),
}
for name, make in OPTIMIZERS.items():
    add(f"training/{name}", lambda m=make: on_both(lambda d: train(m, d), rtol=1e-3, atol=1e-4))
SCHEDULES = {
    "step": lambda o: torch.optim.lr_scheduler.StepLR(o, 1, 0.5),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 3),
    "one-cycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=5),
}
for name, make in SCHEDULES.items():
    add(
        f"training/schedule-{name}",
        lambda m=make: on_both(lambda d: train(OPTIMIZERS["sgd-momentum"], d, schedule=m), rtol=1e-3, atol=1e-4),
    )


@check
def grad_of_grad():
    def run(device):
        x = floats(5).to(device).requires_grad_()
        first = torch.autograd.grad((x**3).sum(), x, create_graph=True)[0]
        return torch.autograd.grad(first.sum(), x)[0]

    on_both(run)


@check
def accumulated_grads():
    def run(device):
        x = floats(5).to(device).requires_grad_()
        for _ in range(3):
            (x * 2).sum().backward()
        return x.grad

    on_both(run)


@check
def own_function():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    same(Twice.apply, floats(4), grad=True)


@check
def hooks_on_tensors():
    def run(device):
        x = floats(5).to(device).requires_grad_()
        x.register_hook(lambda grad: grad * 3)
        (x * 2).sum().backward()
        return x.grad

    on_both(run)


@check
def no_grad():
    with torch.no_grad():
        assert not (torch.ones(2, device="npu", requires_grad=True) * 2).requires_grad


@check
def detached():
    x = torch.ones(2, device="npu", requires_grad=True)
    y = (x * 2).detach() * x
    y.sum().backward()
    close(x.grad, torch.full((2,), 2.0))


@check
def anomaly_names_the_operator():
    with torch.autograd.detect_anomaly():
        x = torch.zeros(1, device="npu", requires_grad=True)
        try:
            (x / x).sum().backward()
        except RuntimeError as error:
            assert "nan" in str(error)
        else:
            raise AssertionError("no error about nan")


@check
def jacobian():
    on_both(lambda d: torch.autograd.functional.jacobian(lambda x: x**2, floats(3).to(d)))


@check
def vmapped():
    on_both(lambda d: torch.vmap(lambda x: (x * 2).sum())(floats(3, 4).to(d)))


@check
def clipped_grads():
    def run(device):
        net = model().to(device)
        net(floats(6, 8).to(device)).pow(2).sum().backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        return norm, [p.grad for p in net.parameters()]

    on_both(run, rtol=1e-3, atol=1e-4)


@check
def clipped_values():
    def run(device):
        net = model().to(device)
        net(floats(6, 8).to(device)).pow(2).sum().backward()
        nn.utils.clip_grad_value_(net.parameters(), 0.1)
        return [p.grad for p in net.parameters()]

    on_both(run, rtol=1e-3, atol=1e-4)


@check
def optimizer_state_loads():
    net = model().npu()
    optimizer = torch.optim.AdamW(net.parameters())
    net(floats(6, 8).npu()).sum().backward()
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    fresh = torch.optim.AdamW(net.parameters())
    fresh.load_state_dict(state)
    close(fresh.state_dict(), state)


@check
def saved_and_loaded(folder=None):
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        net = model().npu()
        torch.save(net.state_dict(), file.name)
        close(torch.load(file.name), net.state_dict())
        close(torch.load(file.name, map_location="cpu"), net.state_dict())


@check
def autocast_to_half():
    net = nn.Linear(8, 4).npu()
    with torch.npu.amp.autocast(dtype=torch.float16):
        assert net(floats(6, 8).npu()).dtype == torch.float16


@check
def autocast_to_bfloat16():
    net = nn.Linear(8, 4).npu()
    with torch.autocast("npu", dtype=torch.bfloat16):
        assert net(floats(6, 8).npu()).dtype == torch.bfloat16


@check
def grad_scaler():
    net = nn.Linear(8, 4).npu()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.npu.amp.GradScaler(init_scale=8.0)
    before = net.weight.detach().clone()
    with torch.npu.amp.autocast(dtype=torch.float16):
        loss = net(floats(6, 8).npu()).float().pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert not torch.equal(before.cpu(), net.weight.detach().cpu())


@check
def a_loss_falls():
    net = model().npu()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    x, y, losses = floats(32, 8).npu(), floats(32, 4, seed=1).npu(), []
    for _ in range(30):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2, losses


@check
def a_classifier_learns():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 32), nn.GELU(), nn.Linear(32, 3)).npu()
    x = floats(60, 4)
    y = x[:, :3].argmax(1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(60):
        loss = nn.functional.cross_entropy(net(x.npu()), y.npu())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = (net(x.npu()).argmax(1).cpu() == y).float().mean()
    assert right > 0.9, right


FOREACH = "add sub mul div maximum minimum".split()
LIST = [floats(3, 4), floats(5, seed=1)]
for name in FOREACH:
    add(f"training/foreach-{name}", lambda f=getattr(torch, f"_foreach_{name}"): same(f, LIST, LIST[::1]))
    add(f"training/foreach-{name}-scalar", lambda f=getattr(torch, f"_foreach_{name}"): same(lambda x: f(x, 2.0), LIST))
for name in "abs neg exp sqrt reciprocal sigmoid tanh".split():
    add(
        f"training/foreach-{name}",
        lambda f=getattr(torch, f"_foreach_{name}"): same(f, [floats(3, 4, low=0.1), floats(5, low=0.1)]),
    )
add("training/foreach-addcmul", lambda: same(lambda x: torch._foreach_addcmul(x, x, x, value=2.0), LIST))
add("training/foreach-addcdiv", lambda: same(lambda x: torch._foreach_addcdiv(x, x, x, value=2.0), [floats(3, low=1)]))
add("training/foreach-lerp", lambda: same(lambda x, y: torch._foreach_lerp(x, y, 0.3), LIST, [x + 1 for x in LIST]))
add("training/foreach-norm", lambda: same(torch._foreach_norm, LIST))
add("training/foreach-pow", lambda: same(lambda x: torch._foreach_pow(x, 2.0), LIST))


def copied(x):
    to = [torch.zeros_like(each) for each in x]
    torch._foreach_copy_(to, x)
    return to


add("training/foreach-copy", lambda: same(copied, LIST))
add("training/embedding-step", lambda: on_both(embedding_step, rtol=1e-3, atol=1e-4))


def embedding_step(device):
    torch.manual_seed(0)
    table = nn.Embedding(10, 4).to(device)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.5)
    table(ints(7, low=0, high=10).to(device)).pow(2).sum().backward()
    optimizer.step()
    return table.weight
