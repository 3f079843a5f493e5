"""Processes of checks: each fails in the parent with the child's error."""

import queue
import traceback

import torch.multiprocessing as processes

LIMIT = 100


def guarded(results, function, arguments):
    try:
        results.put((True, function(*arguments)))
    except BaseException:
        results.put((False, traceback.format_exc()))


def run(function, *arguments, method="spawn"):
    """What `function` of a module gives in a process of its own."""
    context = processes.get_context(method)
    results = context.Queue()
    child = context.Process(target=guarded, args=(results, function, arguments))
    child.start()
    try:
        good, value = results.get(timeout=LIMIT)
    except queue.Empty:
        child.kill()
        raise RuntimeError(f"a {method} child gave nothing in {LIMIT} s, code {child.exitcode}") from None
    child.join(LIMIT)
    if not good:
        raise RuntimeError(value)
    assert child.exitcode == 0, f"the child ended with {child.exitcode}"
    return value
