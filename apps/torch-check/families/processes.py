"""Several processes: fork, spawn, and tensors that go between them."""

import os
import signal
import subprocess
import sys

import torch
import torch.multiprocessing as processes

from torchcheck import check, close, floats
from torchcheck.children import run


def double_on_device(x):
    return (x.npu() * 2).cpu().numpy()


def look_at(tensor):
    return tensor.cpu().numpy()


def write_into(tensor, done):
    tensor.fill_(7)
    torch.npu.synchronize()
    done.set()


def give(results, done):
    results.put(floats(4, 5).npu() * 3)
    done.wait(60)


def count_devices():
    return torch.npu.device_count()


def only_cpu():
    return (torch.ones(3) * 2).numpy()


def use_device():
    return (torch.ones(3).npu() * 2).cpu().numpy()


@check
def spawned_with_a_device():
    close(torch.from_numpy(run(double_on_device, floats(4, 5))), floats(4, 5) * 2)


@check
def forked_without_a_device():
    torch.ones(2).npu()
    close(torch.from_numpy(run(only_cpu, method="fork")), torch.full((3,), 2.0))


@check
def forked_and_used_is_refused():
    torch.ones(2).npu()
    try:
        run(use_device, method="fork")
    except RuntimeError as error:
        assert "fork" in str(error).lower()
    else:
        raise AssertionError("a forked child used the device of its parent")


SCRIPT = """
import os, torch, torch_npu
child = os.fork()
if child == 0:
    ok = bool((torch.ones(3).npu() * 2).cpu().eq(2).all())
    os._exit(0 if ok else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert bool((torch.ones(3).npu() * 3).cpu().eq(3).all())
print("child", code)
"""


def script(text, **environment):
    command = [sys.executable, "-W", "ignore", "-c", text]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, env=os.environ | environment)
    assert result.returncode == 0, f"{result.returncode}: {result.stdout}{result.stderr}"
    return result.stdout


@check
def forked_before_the_device():
    assert "child 0" in script(SCRIPT)


@check
def a_script_ends_well():
    assert script("import torch, torch_npu; print(torch.ones(2).npu().sum().item())").strip() == "2.0"


@check
def a_script_ends_with_work():
    script("import torch, torch_npu; x = torch.ones(64, 64).npu()\nfor _ in range(100): x = x @ x * 0.01")


@check
def a_script_fails_with_its_own_error():
    command = [sys.executable, "-c", "import torch, torch_npu; torch.ones(2).npu(); raise ValueError('mine')"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert result.returncode == 1 and "ValueError: mine" in result.stderr, (result.returncode, result.stderr)


@check
def a_script_that_is_interrupted():
    # Of a background job the shell has the signal ignored, which children inherit.
    text = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import torch, torch_npu
x = torch.ones(2).npu()
print("up", flush=True)
time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout.readline() == b"up\n"
    child.send_signal(signal.SIGINT)
    assert child.wait(60) in (1, -2, 130), child.returncode
    child.stdout.close()


@check
def visible_devices():
    text = "import torch, torch_npu; print(torch.npu.device_count(), torch.ones(2, device='npu:1').device)"
    assert script(text, ASCEND_RT_VISIBLE_DEVICES="2,3").strip() == "2 npu:1"


@check
def blocking_launches():
    text = "import torch, torch_npu; print((torch.ones(3).npu() * 2).sum().item())"
    assert script(text, ASCEND_LAUNCH_BLOCKING="1").strip() == "6.0"


@check
def a_tensor_is_seen_by_a_child():
    close(torch.from_numpy(run(look_at, floats(4, 5).npu())), floats(4, 5))


@check
def a_child_writes_into_a_tensor():
    context, x = processes.get_context("spawn"), torch.zeros(100, device="npu")
    done = context.Event()
    child = context.Process(target=write_into, args=(x, done))
    child.start()
    assert done.wait(100)
    child.join(60)
    close(x, torch.full((100,), 7.0))


@check
def a_child_gives_a_tensor():
    context = processes.get_context("spawn")
    results, done = context.Queue(), context.Event()
    child = context.Process(target=give, args=(results, done))
    child.start()
    x = results.get(timeout=100)
    close(x + 1, floats(4, 5) * 3 + 1)
    del x
    done.set()
    child.join(60)
    assert child.exitcode == 0


@check
def a_view_is_seen_by_a_child():
    close(torch.from_numpy(run(look_at, floats(4, 5).npu()[1:, ::2])), floats(4, 5)[1:, ::2])


@check
def children_count_devices():
    assert run(count_devices) == torch.npu.device_count()
