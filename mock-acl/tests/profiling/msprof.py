#!/usr/bin/env python3
"""msprof.py BUILD: what msprof of the look-alike makes of a profile written here by hand."""

import csv
import json
import os
import subprocess
import sys
import tempfile

MSPROF = os.path.join(sys.argv[1], "tools/profiler/bin/msprof")
SESSION = "PROF_000001_20240102030405678_ABCDEFGHIJKLMNOP"


def kernel(name, stream, told, began, category="kernel"):
    args = {"device": 0, "told_ns": told, "began_ns": began}
    return {"name": name, "cat": category, "pid": 1, "tid": stream, "ts": 1.0, "ph": "X", "dur": 1.0, "args": args}


EVENTS = [
    kernel("aclnnAdd", 2, 2_000_100, 2_003_000),
    kernel("aclnnInplaceMul", 3, 0, 2_009_500, "kernel in a graph"),
    {"name": "mine", "cat": "mark", "pid": 0, "tid": 1, "ts": 2.0, "ph": "i", "s": "t"},
    kernel("aclnnMatmul", 2, 2_001_000, 2_006_000),
]


def run(*arguments, **variables):
    return subprocess.run([MSPROF, *arguments], capture_output=True, text=True, env=os.environ | variables)


def check_names_in_bytes(session):
    """A program's names may be in any encoding, and the locale may be the C one."""
    text = json.dumps({"traceEvents": [kernel("NAME", 2, 0, 2_003_000) | {"dur": 0}]}).encode()
    for name in (b"a\xc3\xb1", b"a\xff"):
        with open(os.path.join(session, "trace.json"), "wb") as file:
            file.write(text.replace(b"NAME", name))
        result = run("--export=on", f"--output={session}", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        assert result.returncode == 0, result
        with open(os.path.join(session, "mindstudio_profiler_output/op_summary_20240102030405.csv"), "rb") as file:
            assert name.decode(errors="replace").encode() in file.read()


def check_what_is_no_trace(session):
    deep = "[" * 100_000
    for text in ('{"traceEvents": [', '{"traceEvents": [{"cat": null}]}', deep):
        with open(os.path.join(session, "trace.json"), "w") as file:
            file.write(text)
        refused("is no profile of mock-acl", "--export=on", f"--output={session}")


def write(folder):
    for name in ("host", "device_0"):
        os.makedirs(os.path.join(folder, name))
    # The clock of the profile stood at 2 ms when it was 5 s after 1970: 2_003_000 ns is 5 s and 3 us.
    with open(os.path.join(folder, "host/start_info"), "w") as file:
        file.write('{"collectionTimeBegin": "5000000", "clockMonotonicRaw": "2000000"}\n')
    with open(os.path.join(folder, "trace.json"), "w") as file:
        json.dump({"traceEvents": EVENTS}, file)


def check_tables(output):
    with open(os.path.join(output, "op_summary_20240102030405.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    shown = [[row[name].strip() for name in ("Op Name", "OP Type", "Task Type", "Stream ID", "Task Start Time(us)",
                                             "Task Duration(us)", "Task Wait Time(us)")] for row in rows]  # fmt: skip
    assert shown == [
        ["aclnnAdd", "Add", "AI_CORE", "2", "5000003.000", "1.0", "0.0"],
        ["aclnnMatmul", "Matmul", "AI_CORE", "2", "5000006.000", "1.0", "2.0"],
        ["aclnnInplaceMul", "Mul", "AI_CORE", "3", "5000009.500", "1.0", "2.5"],
    ], shown
    with open(os.path.join(output, "op_statistic_20240102030405.csv"), newline="") as file:
        counts = {row["OP Type"]: row["Count"] for row in csv.DictReader(file)}
    assert counts == {"Add": "1", "Mul": "1", "Matmul": "1"}, counts


def check_timeline(output):
    with open(os.path.join(output, "msprof_20240102030405.json")) as file:
        events = json.load(file)
    spans = {(event["name"], event["ts"], event["dur"]) for event in events if event["ph"] == "X"}
    assert {("aclnnAdd", "5000003.000", 1.0), ("Free", "5000004.000", 2.0), ("Free", "5000007.000", 2.5)} <= spans, spans
    assert {("Computing", "5000006.000", 1.0), ("Computing", "5000009.500", 1.0)} <= spans, spans
    # A kernel of a graph was queued by no call of its own.
    starts = [event["ts"] for event in events if event["ph"] == "s"]
    ends = [event["ts"] for event in events if event["ph"] == "f"]
    assert starts == ["5000000.100", "5000001.000"] and ends == ["5000003.000", "5000006.000"], (starts, ends)
    assert not any(event["name"] == "mine" for event in events)


def refused(text, *arguments):
    result = run(*arguments)
    assert result.returncode == 1 and text in result.stderr and "Traceback" not in result.stderr, result


with tempfile.TemporaryDirectory() as folder:
    session = os.path.join(folder, SESSION)
    write(session)
    for output in (folder, session):  # the second time over the files of the first
        result = run("--export=on", f"--output={output}")
        assert result.returncode == 0, result
        check_tables(os.path.join(session, "mindstudio_profiler_output"))
        check_timeline(os.path.join(session, "mindstudio_profiler_output"))
    assert run("--analyze=on", f"--output={session}").returncode == 0
    assert "--export=on" in run("--help").stdout
    refused("--type=db is not supported", "--export=on", "--type=db", f"--output={session}")
    refused("is no folder", "--export=on", "--output=/nowhere/at/all")
    refused("has no PROF_", "--export=on", f"--output={session}/host")
    refused("--output=FOLDER", "--export=on")
    check_names_in_bytes(session)
    check_what_is_no_trace(session)
print("msprof ok")
