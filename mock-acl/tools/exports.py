#!/usr/bin/env python3
"""Works on src/exports.def, the list of exported names.

exports.py check LIBRARY      the library exports exactly these names and mock_acl_*
exports.py table [--check]    writes the tables in README.md, or fails when they are not current
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
WORDS = {"SIM": "simulated", "ACCEPT": "accepted without effect"}
LIBRARIES = {"RT": "Runtime", "NNBASE": "Operator base", "OP": "Operators"}


def entries():
    text = open(os.path.join(HERE, "src/exports.def")).read()
    return re.findall(r"^(RT|NNBASE|OP)\((\w+), (\w+)\)$", text, re.M)


def control_names():
    text = open(os.path.join(HERE, "include/mock_acl.h")).read()
    return set(re.findall(r"\b(mock_acl_\w+)\(", text))


def notes():
    lines = open(os.path.join(HERE, "tools/notes.tsv")).read().splitlines()
    return dict(line.split("\t", 1) for line in lines if line)


def check(library):
    command = ["nm", "-D", "--defined-only", library]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    have = {line.split()[-1] for line in out.splitlines()}
    want = {name for _, name, _ in entries()} | control_names()
    for name in sorted(want - have):
        print("missing:", name)
    for name in sorted(have - want):
        print("not listed:", name)
    return have == want


def table():
    note, lines = notes(), []
    unknown = set(note) - {name for _, name, _ in entries()}
    if unknown:
        sys.exit(f"notes for unknown names: {sorted(unknown)}")
    for kind, title in LIBRARIES.items():
        mine = [(name, fidelity) for k, name, fidelity in entries() if k == kind]
        lines += [f"### {title}", "", "| function | fidelity | note |", "|---|---|---|"]
        lines += [f"| `{n}` | {WORDS[f]} | {note.get(n, '')} |" for n, f in mine if f in WORDS]
        missing = [n for n, f in mine if f not in WORDS]
        if missing:
            head = f"Not supported ({len(missing)}; 207000 or NULL, and the error text names the function):"
            lines += ["", head, ""]
            line = ""
            for n in missing:
                if len(line) + len(n) > 105:
                    lines.append(line.rstrip())
                    line = ""
                line += f"`{n}` "
            lines.append(line.rstrip())
        lines.append("")
    return "\n".join(lines)


def update(only_check):
    path = os.path.join(HERE, "README.md")
    text = open(path).read()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    fresh = text[:start] + "\n\n" + table() + text[end:]
    if only_check:
        if fresh != text:
            print("the tables in README.md are not current: run tools/exports.py table")
        return fresh == text
    open(path, "w").write(fresh)
    return True


def main():
    if sys.argv[1:2] == ["check"]:
        good = check(sys.argv[2])
    elif sys.argv[1:2] == ["table"]:
        good = update("--check" in sys.argv)
    else:
        sys.exit(__doc__)
    sys.exit(0 if good else 1)


main()
