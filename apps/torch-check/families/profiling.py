"""The profiler of torch_npu."""

import glob
import json
import os
import tempfile

import torch
import torch_npu

from torchcheck import check, close, floats


def work():
    x = floats(32, 32).npu()
    for _ in range(3):
        x = torch.relu(x @ x)
    torch.npu.synchronize()
    return x


def profiled(folder, steps=1, **options):
    handler = torch_npu.profiler.tensorboard_trace_handler(folder)
    with torch_npu.profiler.profile(on_trace_ready=handler, **options) as profile:
        for _ in range(steps):
            work()
            profile.step()
    return glob.glob(f"{folder}/*")


@check
def a_profile():
    with tempfile.TemporaryDirectory() as folder:
        assert profiled(folder)


@check
def of_the_host():
    with tempfile.TemporaryDirectory() as folder:
        assert profiled(folder, activities=[torch_npu.profiler.ProfilerActivity.CPU])


@check
def of_the_device():
    with tempfile.TemporaryDirectory() as folder:
        assert profiled(folder, activities=[torch_npu.profiler.ProfilerActivity.NPU])


@check
def with_a_schedule():
    schedule = torch_npu.profiler.schedule(wait=1, warmup=1, active=1, repeat=1)
    with tempfile.TemporaryDirectory() as folder:
        assert profiled(folder, 4, schedule=schedule)


@check
def with_shapes_and_memory():
    with tempfile.TemporaryDirectory() as folder:
        assert profiled(folder, record_shapes=True, profile_memory=True, with_stack=True)


@check
def the_profiler_of_torch():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        work()
    assert any("matmul" in event.key for event in profile.key_averages())


@check
def results_stay():
    plain = work()
    with tempfile.TemporaryDirectory() as folder:
        profiled(folder)
        close(work(), plain)


@check
def a_trace():
    with tempfile.TemporaryDirectory() as folder:
        with torch_npu.profiler.profile() as profile:
            work()
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        assert json.load(open(path))
