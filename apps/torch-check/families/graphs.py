"""NPUGraph with what Python offers on it."""

import json
import os
import tempfile

import torch
import torch_npu
from torch import nn

from torchcheck import add, check, close, floats


def captured(function, *inputs, **options):
    """The graph and its outputs; the inputs are static."""
    stream = torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        for _ in range(2):
            function(*inputs)
    torch.npu.current_stream().wait_stream(stream)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, **options):
        outputs = function(*inputs)
    return graph, outputs


def replays(function, *shapes, low=-2.0, **options):
    """Replays with new inputs give what the CPU gives."""
    inputs = [floats(*shape, low=low).npu() for shape in shapes]
    graph, outputs = captured(function, *inputs, **options)
    for seed in (1, 2, 3):
        fresh = [floats(*shape, low=low, seed=seed + index) for index, shape in enumerate(shapes)]
        for place, value in zip(inputs, fresh):
            place.copy_(value)
        graph.replay()
        close(outputs, function(*fresh), 1e-3, 1e-4)
    return graph


PROGRAMS = {
    "add": (lambda x, y: x + y, (4, 5), (4, 5)),
    "chain": (lambda x: ((x + 1) * 2 - x.sin()).tanh(), (4, 5)),
    "matmul": (lambda x, y: x @ y, (4, 6), (6, 5)),
    "softmax": (lambda x: torch.softmax(x, 1), (4, 6)),
    "layer-norm": (lambda x: nn.functional.layer_norm(x, (6,)), (4, 6)),
    "sum": (lambda x: x.sum(0), (4, 6)),
    "cat": (lambda x, y: torch.cat([x, y], 1), (4, 6), (4, 2)),
    "index": (lambda x: x[:, 2] * 2, (4, 6)),
    "transpose": (lambda x: x.t().contiguous(), (4, 6)),
    "where": (lambda x, y: torch.where(x > 0, x, y), (4, 6), (4, 6)),
    "gelu": (nn.functional.gelu, (4, 6)),
    "sort": (lambda x: tuple(torch.sort(x)), (4, 6)),
    "copy": (lambda x: x.clone() + 1, (4, 6)),
    "constants": (lambda x: x + torch.ones(6, device=x.device), (4, 6)),
    "half": (lambda x: (x.half() * 2).float(), (4, 6)),
    "attention": (lambda q, k: torch.softmax(q @ k.transpose(-1, -2), -1) @ k, (2, 4, 6), (2, 4, 6)),
}
for name, (function, *shapes) in PROGRAMS.items():
    add(f"graphs/{name}", lambda f=function, s=shapes: replays(f, *s))
for mode in "global thread_local relaxed".split():
    add(f"graphs/mode-{mode}", lambda m=mode: replays(lambda x: x * 2, (3, 4), capture_error_mode=m))


@check
def nothing_runs_while_it_is_captured():
    x = torch.zeros(4, device="npu")
    graph, _ = captured(lambda x: x, x)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        x.add_(1)
    torch.npu.synchronize()
    close(x, torch.zeros(4))
    for _ in range(5):
        graph.replay()
    close(x, torch.full((4,), 5.0))


@check
def a_module_replayed():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 3))
    moved = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 3))
    moved.load_state_dict(net.state_dict())
    moved.npu()
    x = floats(4, 6).npu()
    with torch.no_grad():
        graph, y = captured(moved, x)
        for seed in (3, 4):
            x.copy_(floats(4, 6, seed=seed))
            graph.replay()
            close(y, net(floats(4, 6, seed=seed)), 1e-3, 1e-4)


@check
def begin_and_end():
    graph, x = torch.npu.NPUGraph(), torch.ones(4, device="npu")
    stream = torch.npu.Stream()
    torch.npu.synchronize()
    with torch.npu.stream(stream):
        graph.capture_begin()
        y = x * 3
        graph.capture_end()
        graph.replay()
    stream.synchronize()
    close(y, torch.full((4,), 3.0))


@check
def capturing_is_told():
    assert not torch.npu.is_current_stream_capturing()
    graph, x, seen = torch.npu.NPUGraph(), torch.ones(4, device="npu"), []
    with torch.npu.graph(graph):
        seen.append(torch.npu.is_current_stream_capturing())
        x * 2
    assert seen == [True] and not torch.npu.is_current_stream_capturing()


@check
def several_streams():
    side = [torch.npu.Stream() for _ in range(3)]

    def fork(x):
        main, parts = torch.npu.current_stream(), [x * 1]
        for index, stream in enumerate(side):
            stream.wait_stream(main)
            with torch.npu.stream(stream):
                parts.append(x * (index + 2))
        for stream in side:
            main.wait_stream(stream)
        return sum(parts)

    x = floats(4, 5).npu()
    graph, y = captured(fork, x)
    for seed in (1, 2):
        x.copy_(floats(4, 5, seed=seed))
        graph.replay()
        close(y, floats(4, 5, seed=seed) * 10)


@check
def events_inside():
    side, event, done = torch.npu.Stream(), torch.npu.Event(), torch.npu.Event()

    def fork(x):
        y = x * 2
        event.record()
        with torch.npu.stream(side):
            event.wait()
            z = y + 1
            done.record()
        done.wait()
        return z * y

    x = floats(4, 5).npu()
    graph, out = captured(fork, x)
    x.copy_(floats(4, 5, seed=5))
    graph.replay()
    close(out, (floats(4, 5, seed=5) * 2 + 1) * floats(4, 5, seed=5) * 2)


@check
def a_shared_pool():
    pool = torch.npu.graph_pool_handle()
    x = floats(4, 5).npu()
    first, y = captured(lambda x: x * 2, x, pool=pool)
    second, z = captured(lambda x: x + 1, y, pool=pool)
    x.copy_(floats(4, 5, seed=3))
    first.replay()
    second.replay()
    close(z, floats(4, 5, seed=3) * 2 + 1)


@check
def the_pool_of_another():
    x = floats(4, 5).npu()
    first, y = captured(lambda x: x * 2, x)
    second, z = captured(lambda x: x + 1, y, pool=first.pool())
    assert first.pool() == second.pool()
    first.replay()
    second.replay()
    close(z, floats(4, 5) * 2 + 1)


@check
def many_graphs():
    x = floats(4, 5).npu()
    made = [captured(lambda x, k=k: x * k, x) for k in range(10)]
    x.copy_(floats(4, 5, seed=9))
    for k, (graph, y) in enumerate(made):
        graph.replay()
        close(y, floats(4, 5, seed=9) * k)


@check
def reset_and_captured_again():
    x = floats(4, 5).npu()
    graph, _ = captured(lambda x: x * 2, x)
    graph.replay()
    graph.reset()
    with torch.npu.graph(graph):
        y = x + 5
    graph.replay()
    close(y, floats(4, 5) + 5)


@check
def replayed_on_another_stream():
    x, stream = floats(4, 5).npu(), torch.npu.Stream()
    graph, y = captured(lambda x: x * 2, x)
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        graph.replay()
    stream.synchronize()
    close(y, floats(4, 5) * 2)


@check
def a_given_stream():
    stream = torch.npu.Stream()
    replays(lambda x: x * 2, (3, 4), stream=stream)


@check
def memory_stays():
    """What a graph writes is not given to others."""
    x = torch.ones(1000, device="npu")
    graph, y = captured(lambda x: (x + 1) * (x + 2), x)
    others = [torch.full((1000,), 7.0, device="npu") for _ in range(20)]
    graph.replay()
    close(y, torch.full((1000,), 6.0))
    assert all((other == 7).all() for other in others)


@check
def waiting_inside_is_refused():
    graph, x = torch.npu.NPUGraph(), torch.ones(4, device="npu")
    try:
        with torch.npu.graph(graph):
            (x * 2).sum().item()
    except RuntimeError:
        pass
    else:
        raise AssertionError("a copy to the host was captured")


@check
def a_training_step():
    torch.manual_seed(0)
    weight = floats(5, 3).npu().requires_grad_()
    x, y = floats(4, 5).npu(), floats(4, 3, seed=1).npu()

    def step():
        weight.grad = None
        ((x @ weight - y) ** 2).mean().backward()

    stream = torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        step()
    torch.npu.current_stream().wait_stream(stream)
    graph = torch.npu.NPUGraph()
    weight.grad = None
    with torch.npu.graph(graph):
        ((x @ weight - y) ** 2).mean().backward()
    x.copy_(floats(4, 5, seed=8))
    graph.replay()
    want = floats(5, 3).requires_grad_()
    ((floats(4, 5, seed=8) @ want - floats(4, 3, seed=1)) ** 2).mean().backward()
    close(weight.grad, want.grad)


@check
def graphed_function():
    sample = floats(4, 6).npu().requires_grad_()
    function = torch.npu.make_graphed_callables(lambda x: (x * 2 + 1) * x, (sample,))
    x = floats(4, 6, seed=3).npu().requires_grad_()
    y = function(x)
    y.sum().backward()
    close(y, floats(4, 6, seed=3) * (floats(4, 6, seed=3) * 2 + 1))
    close(x.grad, floats(4, 6, seed=3) * 4 + 1)


@check
def graphed_module():
    torch.manual_seed(0)
    plain = nn.Linear(6, 3)
    moved = nn.Linear(6, 3)
    moved.load_state_dict(plain.state_dict())
    graphed = torch.npu.make_graphed_callables(moved.npu(), (floats(4, 6).npu(),))
    x = floats(4, 6, seed=3)
    graphed(x.npu()).pow(2).sum().backward()
    plain(x).pow(2).sum().backward()
    close(moved.weight.grad, plain.weight.grad, 1e-3, 1e-4)


@check
def graphed_pair():
    samples = (floats(4, 6).npu().requires_grad_(),), (floats(4, 6).npu().requires_grad_(),)
    first, second = torch.npu.make_graphed_callables((lambda x: x * 2, lambda x: x * x), samples)
    x = floats(4, 6, seed=3).npu().requires_grad_()
    second(first(x)).sum().backward()
    close(x.grad, floats(4, 6, seed=3) * 8)


@check
def dumped():
    graph, _ = captured(lambda x: (x + 1) * 2, floats(4, 5).npu())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.json")
        graph.debug_dump(path)
        assert json.load(open(path))


@check
def task_group():
    """A group of tasks gets another operand, behind an event as the guide does it."""
    x, y = floats(4, 5).npu(), floats(4, 5, seed=1).npu()
    out, update = torch.zeros(4, 5, device="npu"), torch.npu.Stream()
    graph, event = torch.npu.NPUGraph(), torch.npu.ExternalEvent()
    torch.add(x, x, out=out)
    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        event.wait(stream)
        event.reset(stream)
        torch.npu.graph_task_group_begin(stream)
        torch.add(x, x, out=out)
        handle = torch.npu.graph_task_group_end(stream)
    for other, want in ((x, floats(4, 5) * 2), (y, floats(4, 5) + floats(4, 5, seed=1))):
        with torch.npu.stream(update):
            torch.npu.graph_task_update_begin(update, handle)
            torch.add(x, other, out=out)
            torch.npu.graph_task_update_end(update)
            event.record(update)
        graph.replay()
        torch.npu.synchronize()
        close(out, want)


def infer(lengths, query, key, value, out=None):
    options = dict(num_heads=2, input_layout="BSH", scale=0.5, actual_seq_lengths_kv=lengths)
    return torch_npu.npu_fused_infer_attention_score(query, key, value, **options)[0]


@check
def lengths_are_updated():
    """graph.update with other lengths of the keys."""
    query, key, value = [floats(1, size, 32, seed=size, dtype=torch.float16).npu() for size in (1, 64, 65)]
    value = value[:, :64].contiguous()
    graph = torch.npu.NPUGraph()
    infer([8], query, key, value)
    torch.npu.synchronize()
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        out = infer([8], query, key, value)
    for length in (8, 40):
        graph.replay()
        graph.update(cpu_update_input=[{"actual_seq_lengths_kv": [length]}])
        torch.npu.synchronize()
        close(out, infer([length], query, key, value))


@check
def prefetched():
    x, weight = floats(64, 64).npu(), floats(64, 64, seed=1).npu()
    torch_npu.npu_prefetch(weight, x, 64 * 64 * 4)
    close(x @ weight, floats(64, 64) @ floats(64, 64, seed=1))


@check
def prefetched_without_dependency():
    weight = floats(64, 64).npu()
    torch_npu.npu_prefetch(weight, None, 1000, 64)
    torch.npu.synchronize()


@check
def prefetched_beside_work():
    stream, x, weight = torch.npu.Stream(), floats(64, 64).npu(), floats(64, 64, seed=1).npu()
    y = x + 1
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        torch_npu.npu_prefetch(weight, y, 64 * 64 * 4)
    z = y @ weight
    torch.npu.current_stream().wait_stream(stream)
    close(z, (floats(64, 64) + 1) @ floats(64, 64, seed=1))


@check
def prefetch_captured():
    weight = floats(64, 64, seed=1).npu()

    def run(x):
        y = x + 1
        torch_npu.npu_prefetch(weight, y, 64 * 64 * 4)
        return y @ weight

    x = floats(64, 64).npu()
    graph, out = captured(run, x)
    x.copy_(floats(64, 64, seed=4))
    graph.replay()
    close(out, (floats(64, 64, seed=4) + 1) @ floats(64, 64, seed=1), 1e-3, 1e-3)


@check
def prefetch_captured_on_two_streams():
    weight, side = floats(64, 64, seed=1).npu(), torch.npu.Stream()

    def run(x):
        main = torch.npu.current_stream()
        y = x + 1
        side.wait_stream(main)
        with torch.npu.stream(side):
            torch_npu.npu_prefetch(weight, y, 64 * 64 * 4)
        z = y * 2
        main.wait_stream(side)
        return z @ weight

    x = floats(64, 64).npu()
    graph, out = captured(run, x)
    x.copy_(floats(64, 64, seed=4))
    graph.replay()
    close(out, (floats(64, 64, seed=4) + 1) * 2 @ floats(64, 64, seed=1), 1e-3, 1e-3)


@check
def replayed_often():
    x = torch.zeros(8, device="npu")
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        x.add_(1)
    for _ in range(1000):
        graph.replay()
    close(x, torch.full((8,), 1000.0))


@check
def a_graph_dies():
    x = floats(4, 5).npu()
    for _ in range(20):
        graph, y = captured(lambda x: x * 2, x)
        graph.replay()
        del graph, y
    torch.npu.synchronize()
    close(x + 1, floats(4, 5) + 1)


@check
def on_a_second_device():
    with torch.npu.device(1):
        x = floats(4, 5).to("npu:1")
        stream, graph = torch.npu.Stream(), torch.npu.NPUGraph()
        torch.npu.synchronize()
        with torch.npu.stream(stream):
            graph.capture_begin()
            y = x * 2
            graph.capture_end()
            graph.replay()
        stream.synchronize()
        close(y, floats(4, 5) * 2)
