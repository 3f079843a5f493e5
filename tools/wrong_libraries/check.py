#!/usr/bin/env python3
"""Whether the tests of racl see it when the library is wrong: 33 libraries, each wrong in one way.

Each stands in front of the right one (mock-acl/build, or the path that is given). For each the programs below run until
a test fails that passes with the right one. One line a library, with the test that sees it; the exit code is 1 when one
of them is not seen. Numbers behind the path choose some of them.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COUNT = 33
# Where it is looked first; all others come behind.
NEAR = {2: "memory", 3: "memory", 4: "streams", 6: "events", 7: "events", 12: "memory", 13: "operators", 14: "operators",
        15: "devices", 16: "events", 18: "events", 19: "memory", 20: "memory", 21: "events", 22: "devices", 23: "collectives",
        24: "collectives", 25: "collectives", 26: "kernels", 27: "kernels", 28: "conditions", 29: "conditions",
        30: "processes", 31: "models", 32: "models", 33: "models"}
PROGRAMS = ["streams", "capture", "memory", "events", "operators", "devices", "notifies", "flags", "tracked", "plans",
            "collectives", "kernels", "conditions", "processes", "models"]


def programs():
    made = subprocess.run(
        ["cargo", "test", "-p", "racl", "--no-run", "--message-format=json",
         *(word for name in PROGRAMS for word in ("--test", name))],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in made.stdout.splitlines() if line.startswith("{")]
    return {one["target"]["name"]: one["executable"] for one in messages if one.get("executable")}


def kernel(folder):
    """The example's kernel as the mock takes it; for a card its own compiler makes it."""
    file = folder / "axpy.o"
    subprocess.run(
        [os.environ.get("CXX", "c++"), "-std=c++17", "-shared", "-fPIC", f"-I{ROOT / 'mock-acl/include/ascendc'}", "-o",
         file, ROOT / "examples/kernels/axpy.cpp"], check=True)
    return file


def failed_tests(program, library, folder, axpy):
    """The names of the tests that failed."""
    environment = {**os.environ, "RACL_LIBRARY": str(library), "RACL_TEST_REPORT": str(folder), "CARGO_PKG_NAME": "racl",
                   "RACL_TEST_KERNEL": str(axpy), "RACL_TEST_MODELS": "1",
                   "RACL_TEST_LIMIT": os.environ.get("RACL_TEST_LIMIT", "60")}
    subprocess.run([ROOT / "tools/run-test", program], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    results = [json.loads(file.read_text()) for file in folder.glob("*.json")]
    return {name for result in results for name, (state, _) in result.items() if state == "failed"}


def build(number, right, folder):
    library = folder / "libascendcl.so"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=gnu11", f"-DWRONG={number}", "-shared", "-fPIC", "-Wl,--no-as-needed",
         f"-I{ROOT / 'mock-acl/include'}", "-o", library, HERE / "wrong.c", right, f"-Wl,-rpath,{right.parent}", "-ldl"],
        check=True)
    return library


def what(number):
    text = (HERE / "wrong.c").read_text().split(f"WRONG == {number}\n", 1)[1]
    return text.split('"', 2)[1]


def seen(number, right, made, known, axpy):
    """The program and a test that see the fault."""
    near = [NEAR[number]] if number in NEAR else []
    for name in dict.fromkeys([*near, *PROGRAMS]):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            library = build(number, right, folder)
            if name not in known:
                (folder / "right").mkdir()
                known[name] = failed_tests(made[name], right, folder / "right", axpy)
            (folder / "wrong").mkdir()
            failed = failed_tests(made[name], library, folder / "wrong", axpy) - known[name]
            if failed:
                return f"{name}: {min(failed)} ({len(failed)} in all)"
    return None


def main():
    right = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "mock-acl/build/lib64/libascendcl.so").resolve()
    chosen = [int(number) for number in sys.argv[2:]] or range(1, COUNT + 1)
    made, known, missed = programs(), {}, 0
    with tempfile.TemporaryDirectory() as folder:
        axpy = kernel(pathlib.Path(folder))
        for number in chosen:
            by = seen(number, right, made, known, axpy)
            missed += by is None
            print(f"{number:2} {what(number)}: {by or 'NOT SEEN'}", flush=True)
    seen_ones, word = len(chosen) - missed, "missed" if missed else "met"
    print(f"wrong libraries that a test sees\t{seen_ones}\tlibraries\t{len(chosen)}\t{word}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
