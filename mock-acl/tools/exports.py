#!/usr/bin/env python3
"""Works on src/exports.def and src/beside.def, the lists of exported names.

exports.py check LIBRARY      the library exports exactly abi/exports.txt, which is these names and mock_acl_*; every
                              function that the headers declare is in exports.def, and nothing else is
exports.py list               writes abi/exports.txt
exports.py table [--check]    writes the tables in docs/functions.md and src/operators/own/operators.def, or fails when they
                              are not current
"""
import os
import re
import subprocess
import sys

import own_operators
from sources import sources

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
WORDS = {"SIM": "simulated", "ACCEPT": "accepted without effect"}
LIBRARIES = {
    "RT": "Runtime",
    "MDL": "Offline models",
    "EXEC": "Operators by name",
    "COMP": "Operator compiler",
    "PROF": "Profiling",
    "TDT": "Tensor channels",
    "QUEUE": "Queues",
    "DUMP": "Dump",
    "PLAT": "Facts about the chip",
    "SK": "Super kernels",
    "BLAS": "Matrix products",
    "RETR": "Feature retrieval",
    "NNBASE": "Operator base",
    "OP": "Operators",
}
BESIDE = {
    "HCCL": "Collective communication",
    "RTS": "The inner runtime",
    "DRIVER": "The driver",
    "PROFAPI": "Reports to the profiler",
    "MSTX": "Marks for tools",
    "SECUREC": "Checked copies and texts",
}
# The source of the rules of functions that nothing names one by one: what docs/ says of their library.
OF_LIBRARY = {"EXEC": "implementation", "NNBASE": "guide", "OP": "guide", "HCCL": "guide", "MSTX": "guide", "SECUREC": "header"}
LIST = os.path.join(HERE, "abi/exports.txt")


def entries(name="exports.def"):
    text = open(os.path.join(HERE, "src", name)).read()
    return re.findall(r"^([A-Z]+)\((\w+), ([A-Z]+)\)$", text, re.M)


def headers(folders=("acl", "aclnn", "aclnnop")):
    """The header of each declared function: a name before a parenthesis, outside of comments and parameters."""
    found = {}
    for folder in folders:
        for path, _, files in os.walk(os.path.join(HERE, "include", folder)):
            for file in files:
                text = open(os.path.join(path, file)).read()
                text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
                text = re.sub(r"typedef[^{};]*;|typedef (struct|union|enum)[^;]*;", "", text)
                for name in re.findall(r"^[A-Za-z][\w ]*[ *](\w+)\(", text, re.M):
                    found[name] = os.path.relpath(os.path.join(path, file), os.path.join(HERE, "include"))
    return found


def control_names():
    text = ""
    for header in ("mock_acl.h", "mock_acl_operator.h"):
        text += re.sub(r"/\*.*?\*/", "", open(os.path.join(HERE, "include", header)).read(), flags=re.S)
    return set(re.findall(r"\b(mock_acl_\w+)\(", text))


def notes():
    lines = [line for line in open(os.path.join(HERE, "tools/notes.tsv")).read().splitlines() if line]
    found = dict(line.split("\t", 1) for line in lines)
    if len(found) < len(lines):
        names = sorted(line.split("\t")[0] for line in lines)
        sys.exit(f"two notes each: {sorted({a for a, b in zip(names, names[1:]) if a == b})}")
    return found


def check(library):
    command = ["nm", "-D", "--defined-only", library]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    have = {line.split()[-1] for line in out.splitlines()}
    want = {name for _, name, _ in entries()}
    beside = {name for _, name, _ in entries("beside.def")}
    listed = set(open(LIST).read().split())
    return (
        same(want, set(headers()), "in exports.def, not declared", "declared, not in exports.def")
        & same(want | beside | control_names(), listed, "not in abi/exports.txt", "only in abi/exports.txt")
        & same(listed, have, "missing in the library", "exported, not listed")
    )


def same(left, right, only_left, only_right):
    for what, names in ((only_left, left - right), (only_right, right - left)):
        for name in sorted(names):
            print(f"{what}: {name}")
    return left == right


def write_list():
    names = {name for _, name, _ in entries() + entries("beside.def")} | control_names()
    open(LIST, "w").write("".join(f"{name}\n" for name in sorted(names)))
    return True


def wrapped(names):
    """Lines of at most 105 characters."""
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) > 105:
            lines.append("")
        lines[-1] += f"`{name}` "
    return [line.rstrip() for line in lines]


def table():
    note, source, lines = notes(), sources(), []
    both = entries() + entries("beside.def")
    unknown = set(note) - {name for _, name, _ in both}
    if unknown:
        sys.exit(f"notes for unknown names: {sorted(unknown)}")
    for kind, title in (LIBRARIES | BESIDE).items():
        mine = [(name, fidelity) for k, name, fidelity in both if k == kind]
        other = OF_LIBRARY.get(kind, "")
        works = [(n, WORDS[f], source.get(n) or other, note.get(n, "")) for n, f in mine if f in WORDS]
        unsaid = [n for n, _, where, _ in works if not where]
        if unsaid:
            sys.exit(f"no source of the rules of: {unsaid}")
        missing = [n for n, f in mine if f not in WORDS]
        lines += [f"## {title}", ""]
        if works:
            lines += ["| function | fidelity | source | note |", "|---|---|---|---|"]
            lines += [f"| `{n}` | {word} | {where} | {text} |" for n, word, where, text in works]
        if kind == "OP" and missing:
            operators = sum(not n.endswith("GetWorkspaceSize") for n in missing)
            lines.append(
                f"| the other {operators} operators of `aclnnop/` ({len(missing)} functions) | not supported "
                "| own choice | 207000, and the error text names the function, until the program computes it itself "
                "(mock_acl_operator.h); src/operators/own/operators.def lists them |"
            )
        elif missing:
            codes = "207000, NULL or 0" if kind in LIBRARIES else "the library's code for that"
            head = f"Not supported ({len(missing)}; {codes}, and the error text names the function):"
            lines += ([""] if works else []) + [head, ""] + wrapped(missing)
        lines.append("")
    return "\n".join(lines)


def update(only_check):
    path = os.path.join(HERE, "docs/functions.md")
    text = open(path).read()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    fresh = text[:start] + "\n\n" + table() + text[end:]
    stubs = own_operators.text(entries())
    if only_check:
        good = fresh == text and stubs == open(own_operators.PATH).read()
        if not good:
            print("docs/functions.md or src/operators/own/operators.def is not current: run tools/exports.py table")
        return good
    open(path, "w").write(fresh)
    open(own_operators.PATH, "w").write(stubs)
    return True


def main():
    if sys.argv[1:2] == ["check"]:
        good = check(sys.argv[2])
    elif sys.argv[1:2] == ["list"]:
        good = write_list()
    elif sys.argv[1:2] == ["table"]:
        good = update("--check" in sys.argv)
    else:
        sys.exit(__doc__)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
