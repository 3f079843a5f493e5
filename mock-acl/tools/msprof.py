#!/usr/bin/env python3
"""msprof of the look-alike: writes what tools read of a profile that mock-acl made.

  msprof --export=on --output=FOLDER     FOLDER/mindstudio_profiler_output: a timeline, and tables of kernels
  msprof --analyze=on --output=FOLDER    nothing: there are no links between cards to analyse

FOLDER is a PROF_... of aclprofStop, or one that has some. Kernels stand where the mock ran them, beside the host's work;
each takes its virtual time, which says nothing about a card.
"""

import collections
import csv
import json
import os
import re
import sys
import time

SESSION = re.compile(r"PROF_\d+_\d+_[0-9A-Za-z]+")
OUTPUT = "mindstudio_profiler_output"
HARDWARE, OVERLAP, HOST = 1000, 2000, 3000  # processes of the timeline; the device's number is added to the first two
CORE = "AI_CORE"  # the mock has no other; collective operations are no kernels of it
TABLE = ["Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State", "Task Type",
         "Task Start Time(us)", "Task Duration(us)", "Task Wait Time(us)", "Block Num"]  # fmt: skip

Kernel = collections.namedtuple("Kernel", "name device stream start duration told in_graph")


def stop(text):
    sys.exit(f"msprof of mock-acl: {text}")


def microseconds(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def load(path):
    """Names are the program's, in whatever encoding, and UTF-8 whatever the locale."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return json.load(file)


def read(folder):
    """The kernels by device, with the times of the host's clock in ns since 1970."""
    start = load(os.path.join(folder, "host/start_info"))
    shift = int(start["collectionTimeBegin"]) * 1000 - int(start["clockMonotonicRaw"])
    events = load(os.path.join(folder, "trace.json"))["traceEvents"]
    devices = {int(name.partition("_")[2]): [] for name in os.listdir(folder) if re.fullmatch(r"device_\d+", name)}
    for event in events:
        if not event["cat"].startswith("kernel"):
            continue
        args = event["args"]
        told = args["told_ns"] + shift if args["told_ns"] else None
        at, length = args["began_ns"] + shift, round(event["dur"] * 1000)
        kernel = Kernel(event["name"], args["device"], event["tid"], at, length, told, event["cat"] != "kernel")
        devices.setdefault(kernel.device, []).append(kernel)
    return {device: sorted(kernels, key=lambda kernel: kernel.start) for device, kernels in sorted(devices.items())}


def operator(kernel):
    """The type of a kernel is the operator's name without what the library puts before it."""
    return kernel.name.removeprefix("aclnn").removeprefix("Inplace")


def named(process, name, label):
    yield {"name": "process_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": name}}
    yield {"name": "process_labels", "ph": "M", "pid": process, "tid": 0, "args": {"labels": label}}


def span(name, process, thread, start, length, **args):
    event = {"name": name, "pid": process, "tid": thread, "ts": microseconds(start), "dur": length / 1000, "ph": "X"}
    return event | {"args": args}


def arrow(number, kernel, process):
    """From the call that queued it: its time is how the profiler finds the operator of the program."""
    both = {"name": "HostToDevice", "cat": "HostToDevice", "id": str(number)}
    yield both | {"ph": "s", "pid": HOST, "tid": 0, "ts": microseconds(kernel.told)}
    yield both | {"ph": "f", "bp": "e", "pid": process, "tid": kernel.stream, "ts": microseconds(kernel.start)}


def overlap(kernels, process):
    """Kernels follow each other, and between them the device is free."""
    end = None
    for kernel in kernels:
        if end is not None and kernel.start > end:
            yield span("Free", process, 1, end, kernel.start - end)
        yield span("Computing", process, 0, kernel.start, kernel.duration)
        end = max(end or 0, kernel.start + kernel.duration)


def timeline(devices):
    yield from named(HOST, "CANN", "CPU")
    number = 0
    for device, kernels in devices.items():
        process = HARDWARE + device
        yield from named(process, "Ascend Hardware", f"NPU {device}")
        for kernel in kernels:
            number += 1
            about = {"Task Type": CORE, "Stream Id": kernel.stream, "Task Id": number}
            yield span(kernel.name, process, kernel.stream, kernel.start, kernel.duration, **about)
            if kernel.told is not None:
                yield from arrow(number, kernel, process)
        yield from named(OVERLAP + device, "Overlap Analysis", f"NPU {device}")
        yield from overlap(kernels, OVERLAP + device)


def summary(devices):
    for device, kernels in devices.items():
        end = None
        for number, kernel in enumerate(kernels, 1):
            wait = max(0, kernel.start - end) if end is not None else 0
            end = kernel.start + kernel.duration
            start, length, waited = f"{microseconds(kernel.start)}\t", kernel.duration / 1000, wait / 1000
            yield [device, 4294967295, number, kernel.stream, kernel.name, operator(kernel), "static", CORE,
                   start, length, waited, 1]  # fmt: skip


def statistic(devices):
    for device, kernels in devices.items():
        lengths = collections.defaultdict(list)
        for kernel in kernels:
            lengths[operator(kernel)].append(kernel.duration / 1000)
        whole = sum(map(sum, lengths.values()))
        for name, all_of in sorted(lengths.items(), key=lambda item: -sum(item[1])):
            total = sum(all_of)
            yield [device, name, CORE, len(all_of), round(total, 3), min(all_of), round(total / len(all_of), 3), max(all_of),
                   round(100 * total / (whole or 1), 3)]  # fmt: skip


STATISTIC = ["Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)",
             "Ratio(%)"]  # fmt: skip


def write_table(path, head, lines):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(lines)


def export(folder):
    devices = read(folder)
    output = os.path.join(folder, OUTPUT)
    os.makedirs(output, mode=0o750, exist_ok=True)
    when = os.path.basename(os.path.abspath(folder)).split("_")[2][:14]
    with open(os.path.join(output, f"msprof_{when}.json"), "w", encoding="utf-8") as file:
        json.dump(list(timeline(devices)), file)
    write_table(os.path.join(output, f"op_statistic_{when}.csv"), STATISTIC, statistic(devices))
    write_table(os.path.join(output, f"op_summary_{when}.csv"), TABLE, summary(devices))
    # torch_npu looks ten times a second whether a table is there, and gives up when the export ends before it saw one.
    time.sleep(0.5)


def sessions(folder):
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        stop(f"{folder} is no folder")
    names = [name for name in sorted(os.listdir(folder)) if SESSION.fullmatch(name)]
    found = [folder] if SESSION.fullmatch(os.path.basename(folder)) else [os.path.join(folder, name) for name in names]
    return found or stop(f"{folder} has no PROF_... of a profile")


def options(arguments):
    found = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name not in ("--export", "--analyze", "--output") or not equals:
            stop(f"{argument} is not supported; see msprof --help")
        found[name[2:]] = value
    if "on" not in (found.get("export"), found.get("analyze")) or not found.get("output"):
        stop("--export=on or --analyze=on, and --output=FOLDER; see msprof --help")
    return found


def main():
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__)
        return
    given = options(sys.argv[1:])
    for folder in sessions(given["output"]):
        try:
            if given.get("export") == "on":
                export(folder)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            stop(f"{folder} is no profile of mock-acl: {error!r}")


if __name__ == "__main__":
    main()
