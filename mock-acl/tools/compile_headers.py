#!/usr/bin/env python3
"""Lets a C++ compiler check include/ against the real headers: a test made from ours is compiled with theirs.

compile_headers.py [--offline] [SET...]

For each set: the type of every function, the value and size of every enum constant, the size, alignment, offsets and
types of every struct, the type behind every typedef and the value of every constant that both have, as static
assertions. What abi/changes.tsv lists is left out; compare_headers.py compares it. That program also downloads the
headers. The test is compiled with our own headers first, where all of it must hold, and once with each assertion
turned around, where none may.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import compare_headers as real

START = """#include <cstddef>
#include <type_traits>
#include <utility>
template <class A, class B> constexpr bool same = std::is_same<A, B>::value;
constexpr bool equal(const char *a, const char *b) { return *a == *b && (*a == 0 || equal(a + 1, b + 1)); }
"""


def includes(headers):
    names = [name for name in headers.file_names() if name != "acl/acl_rt_api.h"]  # overloads for C++ only
    return "".join(f'#include "{name}"\n' for name in ["acl/acl.h", *names])


def struct(name, shape):
    """Conditions of a struct whose shape is as compare_headers.py writes it."""
    size, fields = shape.split(": ", 1)
    size, alignment = size.split("/")
    yield f"sizeof({name}) == {size} && alignof({name}) == {alignment}"
    for field in filter(None, fields.split("; ")):
        kind, member, offset = re.fullmatch(r"(.*) ([\w.]+) @(\d+)", field).groups()
        there = f"decltype(std::declval<{name} &>().{member})"
        yield f"offsetof({name}, {member}) == {offset} && same<{there}, {kind}>"


def condition(kind, name, value, headers):
    if kind in ("function", "typedef"):
        left = f"decltype({name})" if kind == "function" else name
        return [f"same<{left}, {value}>"]
    if kind == "enum constant":
        number, _, size = re.fullmatch(r"(-?\d+) in (\w+), (\d+) bytes", value).groups()
        spelled = headers.scoped.get(name, name)
        return [f"static_cast<int>({spelled}) == {number} && sizeof({spelled}) == {size}"]
    if kind == "struct":
        return list(struct(name, value))
    if value.startswith('"'):
        return [f"equal({name}, {value})"]
    return [f"static_cast<long long>({name}) == {value}LL"]


def assertions(ours, theirs, known, turned=False):
    """The test's assertions about what both have and no list excepts, and how many items of each kind they are."""
    rename, lines, counts = real.renamed(ours, theirs), [], dict.fromkeys(real.KINDS, 0)
    for kind in real.KINDS:
        for name, value in sorted(ours.items[kind].items()):
            there = rename(name) if kind == "struct" else name
            if there not in theirs.items[kind] or (kind, name) in known:
                continue
            value = value if kind == "constant" else rename(value)
            counts[kind] += 1
            for text in condition(kind, there, value, theirs):
                text = f"!({text})" if turned else text
                lines.append(f'static_assert({text}, "{kind} {name}");')
    return lines, counts


def compiled(text, folder):
    """The assertions that fail; ends the program when the compiler finds something else."""
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(text)
        file.flush()
        command = [os.environ.get("CXX", "c++"), "-std=c++17", "-fsyntax-only", "-w", "-fmax-errors=0"]
        command += [f"-I{folder}", f"-I{folder}/acl", file.name]
        done = subprocess.run(command, capture_output=True, text=True)
    errors = [line.split("error: ", 1)[1] for line in done.stderr.splitlines() if "error: " in line]
    failed = [error for error in errors if re.match(r"static assertion failed|static_assert failed", error)]
    if len(failed) != len(errors) or (done.returncode != 0) != bool(errors):
        sys.exit(f"the test does not compile with {folder}:\n{done.stderr[:4000]}")
    return failed


def check(ours, theirs, known):
    lines, counts = assertions(ours, theirs, known)
    return compiled(START + includes(theirs) + "\n".join(lines) + "\n", theirs.folder), counts, len(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offline", action="store_true", help="skip what is not cached")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {' '.join(real.SETS)}; all without")
    options = parser.parse_args()
    cindex, changes = real.clang(options.offline), real.known_changes()
    ours = real.Headers(cindex, os.path.join(real.HERE, "include"))
    good = not check(ours, ours, set())[0]
    turned, _ = assertions(ours, ours, set(), turned=True)
    failed = compiled(START + includes(ours) + "\n".join(turned) + "\n", ours.folder)
    if not good or len(failed) != len(turned):
        sys.exit(f"our own headers fail their test, or {len(turned) - len(failed)} of its assertions cannot fail")
    print(f"{'torch-npu':12} {'functions':>10} {'enums':>6} {'structs':>8} {'typedefs':>9} {'constants':>10} "
          f"{'assertions':>11} {'failed':>7}")
    for version in options.sets or real.SETS:
        folder = real.fetch(version, options.offline)
        if folder is None:
            print(f"SKIPPED: the headers of torch-npu {version} are not there; run without --offline")
            continue
        theirs = real.Headers(cindex, folder)
        failed, counts, total = check(ours, theirs, {key[1:] for key in changes if key[0] == version})
        for line in failed:
            print(f"{version}: {line}")
        print(f"{version:12} {counts['function']:10} {counts['enum constant']:6} {counts['struct']:8} "
              f"{counts['typedef']:9} {counts['constant']:10} {total:11} {len(failed):7}")
        good = good and not failed
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
