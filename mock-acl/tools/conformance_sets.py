#!/usr/bin/env python3
"""Builds the conformance suite with the real headers, and runs it on the mock.

conformance_sets.py [--offline] BUILD [SET...]

A check that uses what a set of headers does not declare is left out of that set's program; how many is printed. What
is left has to compile as C++ with those headers and to pass. compare_headers.py downloads the headers.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import compare_headers as real

HERE = os.path.join(real.HERE, "tests/conformance")
NEEDED = ("main.c", "support.c")  # nothing may be left out of these


def chunks(lines):
    """(first, last) line of each definition, which ends with a closing brace in the first column."""
    start = 0
    for number, line in enumerate(lines):
        if line.startswith("}"):
            yield start, number
            start = number + 1


def compile_one(path, folder, target):
    """Left out checks; None when the file does not compile at all."""
    lines, left_out = open(path).read().split("\n"), []
    command = ["g++", "-x", "c++", "-std=c++17", "-w", "-D_GNU_SOURCE", "-g", "-pthread", f"-I{folder}", f"-I{folder}/acl",
               f"-I{HERE}", "-c", "-", "-o", target]
    while True:
        text = '#line 1 "check.c"\n' + "\n".join(lines)
        process = subprocess.run(command, input=text, stderr=subprocess.PIPE, text=True)
        if process.returncode == 0:
            return left_out
        wrong = {int(n) - 1 for n in re.findall(r"^check\.c:(\d+):\d+: error", process.stderr, re.M)}
        absent = [n for n in wrong if lines[n].startswith("#include")]
        for number in absent:
            lines[number] = ""
        bad = [c for c in chunks(lines) if any(c[0] <= n <= c[1] for n in wrong - set(absent))]
        if not bad and not absent or os.path.basename(path) in NEEDED:
            print(process.stderr[:2000])
            return None
        for first, last in bad:
            for number in range(first, last + 1):
                rule = re.match(r"RULE\w*\((\w+), (\w+),", lines[number])
                if rule:
                    left_out.append(".".join(rule.groups()))
                if not lines[number].startswith("#include"):
                    lines[number] = ""


def build(version, folder, out):
    os.makedirs(out, exist_ok=True)
    paths = sorted(glob.glob(os.path.join(HERE, "*.c")))
    objects = [os.path.join(out, os.path.basename(path)[:-1] + "o") for path in paths]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda pair: compile_one(pair[0], folder, pair[1]), zip(paths, objects)))
    if None in results:
        sys.exit(f"{version}: {paths[results.index(None)]} does not compile")
    return objects, [rule for result in results for rule in result]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--offline", action="store_true")
    parser.add_argument("build")
    parser.add_argument("sets", nargs="*", default=real.SETS)
    options = parser.parse_args()
    library, failed = os.path.abspath(os.path.join(options.build, "lib64")), False
    for version in options.sets:
        folder = real.fetch(version, options.offline)
        if folder is None:
            print(f"SKIPPED: the headers of torch-npu {version} are not in the cache")
            continue
        out = os.path.abspath(os.path.join(options.build, "conformance", "set-" + version))
        objects, left_out = build(version, folder, out)
        # Beside the other programs of the suite: that is where its checks look for kernels.
        program = os.path.abspath(os.path.join(options.build, "conformance", "with-" + version))
        subprocess.run(["g++", *objects, f"-L{library}", "-lascendcl", "-ldl", "-pthread", "-Wl,-z,lazy",
                        f"-Wl,-rpath,{library}", "-o", program], check=True)
        process = subprocess.run([program, "--junit", program + ".xml"], stdout=subprocess.PIPE, text=True,
                                 env={"MOCK_ACL_DEVICES": "2", **os.environ})
        print(process.stdout, end="")
        print(f"compiled with the headers of torch-npu {version}; {len(left_out)} checks use what these do not declare")
        failed |= process.returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
