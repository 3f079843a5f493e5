"""Streams, events and devices."""

import threading

import torch

from torchcheck import check, close, floats


def wait_for(*streams):
    for stream in streams:
        torch.npu.current_stream().wait_stream(stream)


@check
def a_side_stream():
    stream, x = torch.npu.Stream(), floats(64, 64).npu()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        y = x @ x
    wait_for(stream)
    close(y + 1, floats(64, 64) @ floats(64, 64) + 1)


@check
def many_streams():
    streams = [torch.npu.Stream() for _ in range(8)]
    x, parts = floats(64, 64).npu(), []
    torch.npu.synchronize()
    for index, stream in enumerate(streams):
        with torch.npu.stream(stream):
            parts.append(x * index)
    wait_for(*streams)
    close(sum(parts), floats(64, 64) * 28)


@check
def a_stream_is_current():
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        assert torch.npu.current_stream() == stream
    assert torch.npu.current_stream() == torch.npu.default_stream()


@check
def set_stream():
    before, stream = torch.npu.current_stream(), torch.npu.Stream()
    torch.npu.set_stream(stream)
    close(floats(5).npu() * 2, floats(5) * 2)
    torch.npu.set_stream(before)


@check
def a_stream_is_done():
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        torch.ones(4, device="npu") * 2
    stream.synchronize()
    assert stream.query()


@check
def priorities():
    stream = torch.npu.Stream(priority=-1)
    with torch.npu.stream(stream):
        x = torch.ones(4, device="npu") * 2
    stream.synchronize()
    close(x, torch.full((4,), 2.0))


@check
def an_event_orders_streams():
    first, second, event = torch.npu.Stream(), torch.npu.Stream(), torch.npu.Event()
    x = torch.zeros(1000, device="npu")
    torch.npu.synchronize()
    with torch.npu.stream(first):
        for _ in range(50):
            x.add_(1)
        event.record()
    with torch.npu.stream(second):
        event.wait()
        y = x * 2
    second.synchronize()
    close(y, torch.full((1000,), 100.0))


@check
def an_event_is_done():
    event = torch.npu.Event()
    torch.ones(4, device="npu").mul_(2)
    event.record()
    event.synchronize()
    assert event.query()


@check
def a_time():
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    start.record()
    x = torch.ones(100, 100, device="npu")
    for _ in range(10):
        x = x + 1
    end.record()
    torch.npu.synchronize()
    assert start.elapsed_time(end) > 0


@check
def record_stream():
    stream = torch.npu.Stream()
    x = torch.ones(1000, device="npu")
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        y = x * 2
        x.record_stream(stream)
    del x
    torch.empty(1000, device="npu").fill_(9)
    stream.synchronize()
    close(y, torch.full((1000,), 2.0))


@check
def threads_have_streams():
    results = [None] * 4

    def work(index):
        with torch.npu.stream(torch.npu.Stream()):
            x = torch.full((100,), float(index), device="npu") * 2
            torch.npu.current_stream().synchronize()
            results[index] = x.cpu()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, result in enumerate(results):
        close(result, torch.full((100,), 2.0 * index))


@check
def backward_on_a_side_stream():
    stream, x = torch.npu.Stream(), floats(8, 8).npu().requires_grad_()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        (x * x).sum().backward()
    stream.synchronize()
    close(x.grad, floats(8, 8) * 2)


@check
def long_queue():
    x = torch.zeros(16, device="npu")
    for _ in range(5000):
        x.add_(1)
    close(x, torch.full((16,), 5000.0))


@check
def devices():
    assert torch.npu.is_available() and torch.npu.device_count() == 4
    assert "910B" in torch.npu.get_device_name()
    assert torch.npu.get_device_properties(0).total_memory > 2**33


@check
def a_second_device():
    with torch.npu.device(1):
        x = torch.ones(3, device="npu")
    assert x.device.index == 1 and torch.npu.current_device() == 0
    close(x * 2, torch.full((3,), 2.0))


@check
def every_device():
    for device in range(torch.npu.device_count()):
        x = floats(8, 8).to(f"npu:{device}")
        close(x @ x, floats(8, 8) @ floats(8, 8))


@check
def peers():
    assert torch.npu.can_device_access_peer(0, 1)


@check
def device_limits():
    """They can be set once in a process."""
    before = torch.npu.get_device_limit(1)
    assert before["cube_core_num"] > 0 and before["vector_core_num"] > 0
    torch.npu.set_device_limit(1, 12, 24)
    assert torch.npu.get_device_limit(1) == {"cube_core_num": 12, "vector_core_num": 24}


@check
def stream_limits():
    stream = torch.npu.Stream()
    torch.npu.set_stream_limit(stream, 12, 24)
    assert torch.npu.get_stream_limit(stream) == {"cube_core_num": 12, "vector_core_num": 24}
    torch.npu.reset_stream_limit(stream)


@check
def overflow_is_seen():
    from torch_npu.npu.utils import npu_check_overflow

    assert not npu_check_overflow(torch.ones(3, device="npu"))
    assert npu_check_overflow(torch.full((3,), float("inf"), device="npu"))


@check
def options():
    torch.npu.set_compile_mode(jit_compile=False)
    assert torch.npu.is_jit_compile_false()


@check
def deterministic():
    torch.use_deterministic_algorithms(True)
    try:
        x = floats(64, 64).npu()
        close((x @ x).cpu(), (x @ x).cpu(), 0, 0)
    finally:
        torch.use_deterministic_algorithms(False)


@check
def ranges_are_marked():
    handle = torch.npu.mstx.range_start("a range", torch.npu.current_stream())
    torch.npu.mstx.range_end(handle)
    torch.npu.mstx.mark("a mark")


@check
def utilization():
    assert 0 <= torch.npu.utilization() <= 100
