"""The profiler of torch_npu."""

import csv
import glob
import json
import os
import subprocess
import sys
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


def rows(folder, name):
    (path,) = glob.glob(f"{folder}/*/ASCEND_PROFILER_OUTPUT/{name}")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def kernels_are_there(folder):
    """As many as `work` runs, in their order, and the operators of the program that they belong to."""
    names = [row["Name"] for row in rows(folder, "kernel_details.csv")]
    assert [name for name in names if name in ("aclnnMatmul", "aclnnMm", "aclnnRelu")][1::2] == ["aclnnRelu"] * 3, names
    assert sum(name in ("aclnnMatmul", "aclnnMm") for name in names) == 3, names
    on_device = {row["Name"] for row in rows(folder, "operator_details.csv") if float(row["Device Total Duration(us)"])}
    assert {"aten::matmul", "aten::relu"} <= on_device, on_device


@check
def a_profile():
    with tempfile.TemporaryDirectory() as folder:
        assert profiled(folder)
        kernels_are_there(folder)


@check
def analysed_later():
    handler_of = torch_npu.profiler.tensorboard_trace_handler
    with tempfile.TemporaryDirectory() as folder:
        with torch_npu.profiler.profile(on_trace_ready=handler_of(folder, analyse_flag=False)):
            work()
        assert not glob.glob(f"{folder}/*/ASCEND_PROFILER_OUTPUT")
        # In a process of its own: torch_npu keeps what it read of a profile's settings.
        text = f"from torch_npu.profiler.profiler import analyse\nif __name__ == '__main__': analyse({folder!r})"
        subprocess.run([sys.executable, "-c", text], check=True, timeout=100)
        kernels_are_there(folder)


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
        assert [row["Step"] for row in rows(folder, "step_trace_time.csv")] == ["2"]


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
        with open(path) as file:
            found = json.load(file)
        events = found if isinstance(found, list) else found["traceEvents"]
        on_device = [event["name"] for event in events if "Task Type" in event.get("args", {})]
        assert on_device.count("aclnnRelu") == 3, on_device
