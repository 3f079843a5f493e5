"""Checks that several processes do together: started once, each check with a result of its own."""

import functools
import os
import queue
import socket
import traceback
import warnings

import torch
import torch.multiprocessing as processes

TOGETHER = {}
LIMIT = 140


def together(function):
    """A decorator: `function(rank, size)` runs in every process of a world."""
    TOGETHER[function.__name__.replace("_", "-")] = function
    return function


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def leave(results):
    results.close()
    results.join_thread()
    os._exit(1)


def work(rank, size, port, results):
    import torch_npu  # noqa: F401

    import families.distributed  # noqa: F401

    warnings.simplefilter("ignore")
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    try:
        torch.npu.set_device(rank)
        torch.distributed.init_process_group("hccl", rank=rank, world_size=size)
    except Exception:
        results.put((rank, None, traceback.format_exc()))
        leave(results)
    for name, function in TOGETHER.items():
        try:
            function(rank, size)
            torch.npu.synchronize()
            error = None
        except Exception:
            error = traceback.format_exc()
        results.put((rank, name, error))
        if error is not None:
            # What the others wait for does not come any more.
            leave(results)
    torch.distributed.destroy_process_group()


def others(answers):
    """Errors of the other processes, which may have the reason."""
    errors = ""
    try:
        while True:
            errors += answers.get(timeout=3)[2] or ""
    except queue.Empty:
        return errors


@functools.cache
def results(size):
    """Errors by check; the first that fails leaves those behind it undone."""
    context = processes.get_context("spawn")
    answers, port = context.Queue(), free_port()
    children = [context.Process(target=work, args=(rank, size, port, answers)) for rank in range(size)]
    for child in children:
        child.start()
    found, missing = {}, {(rank, name) for rank in range(size) for name in TOGETHER}
    try:
        while missing:
            rank, name, error = answers.get(timeout=LIMIT)
            if error is not None:
                error += others(answers)
                return found | {name: error}, error
            missing.discard((rank, name))
            if not any(left == name for _, left in missing):
                found[name] = None
    except queue.Empty:
        return found, f"processes gave nothing in {LIMIT} s"
    finally:
        for child in children:
            child.join(10)
            child.kill()
    return found, None


def told(size, name):
    """Fails when the check did in one of the processes."""
    found, stopped = results(size)
    error = found.get(name, stopped)
    if error is not None:
        raise RuntimeError(error)
