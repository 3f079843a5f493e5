"""worker.py REPORT NAME...: runs checks, and writes a line when one begins and one when it ends.

A check that fails may leave the device in an error; then this ends, and the runner goes on in a new process.
"""

import re
import sys
import traceback
import warnings

import torch
import torch_npu  # noqa: F401

from torchcheck import registry

# A stub; a name that the release had not yet; operands that an operator of the mock refuses.
STUB = re.compile(r"\b(\w+?)(?:GetWorkspaceSize)? is not supported by mock-acl")
ABSENT = re.compile(r"\b(aclnn\w+?)(?:GetWorkspaceSize)?(?: or aclnn\w+)? not in libopapi")
# torch_npu's own rule, on a card as well.
QUEUE = "Do not support TASK_QUEUE_ENABLE = 2 during NPU graph capture"
# The thread of the queue prints the reason and passes on the name alone.
QUEUED = re.compile(r"current working operator name is (aclnn\w+)")
REFUSED = re.compile(r"EZ1001: (aclnn\w+: (?!executor is a null)[^\n]*)")


def reason(error):
    """What the table says of a check that failed: its result and a reason."""
    text = "".join(traceback.format_exception_only(error))
    stubs = sorted(set(STUB.findall(text)))
    if stubs:
        return "not-computed", " ".join(stubs)
    for pattern in (ABSENT, REFUSED, QUEUED):
        found = pattern.search(text)
        if found:
            return "not-computed", found[1]
    if QUEUE in text:
        return "refused", f"torch_npu: {QUEUE}"
    kind = "differs" if isinstance(error, AssertionError) else "error"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return kind, " | ".join(lines[:3])[:300].replace("\t", " ")


def healthy():
    try:
        torch.npu.synchronize()
        return bool((torch.ones(2).npu() + 1).cpu().eq(2).all())
    except Exception:
        return False


def run_one(function):
    try:
        function()
        torch.npu.synchronize()
        return "ok", ""
    except Exception as error:
        traceback.print_exc()
        return reason(error) if not isinstance(error, AssertionError) else reason(behind(error))


def behind(error):
    """torch_npu's queue drops what is behind an operator that failed before it says so: a copy may give wrong numbers."""
    try:
        torch.npu.synchronize()
    except Exception as cause:
        traceback.print_exc()
        return cause
    return error


def main():
    warnings.simplefilter("ignore")
    report, names = open(sys.argv[1], "a", buffering=1), sys.argv[2:]
    checks = registry.load()
    for name in names:
        print(f"== {name}", flush=True)
        report.write(f"begin\t{name}\n")
        result, why = run_one(checks[name])
        report.write(f"end\t{name}\t{result}\t{why}\n")
        if result != "ok" and not healthy():
            break
    report.write("done\n")


if __name__ == "__main__":
    main()
