#!/usr/bin/env python3
"""lines.py FOLDER [--list] [--branches] [--figures] [--report]: of what was compiled with --coverage into FOLDER,
how much of src/ ran.

A row for each file, then the totals. With --list every line that did not run, with --branches every line with a branch
that was not taken; with --figures the totals alone, as .ci/full prints figures. Fails when a target is missed, or
when tests/not-covered.tsv has no reason for what did not run, unless --report or --figures. It has a row for each
function with such lines, and rows with the function `(branches)` for the branches of files; shell patterns name
several. Rows of functions that ran are only mentioned: some windows are met by chance. A line marked with the comment
`unreached: why` is not counted.
"""
import fnmatch
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINES, BRANCHES, EXCEPTED = 95.0, 91.5, 2.0  # percent
REASONS = os.path.join(HERE, "tests", "not-covered.tsv")


def measured(folder):
    """File -> line -> [count, branches taken, branches, function]."""
    found = {}
    notes = [os.path.abspath(path) for path in sorted(glob.glob(os.path.join(folder, "**/*.gcda"), recursive=True))]
    with tempfile.TemporaryDirectory() as scratch:
        # A folder for each of theirs: names come again in other rooms.
        for room in sorted({os.path.dirname(note) for note in notes}):
            output = tempfile.mkdtemp(dir=scratch)
            inside = [note for note in notes if os.path.dirname(note) == room]
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", *inside], cwd=output, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in glob.glob(os.path.join(scratch, "*", "*.gcov.json.gz")):
            for file in json.load(gzip.open(path))["files"]:
                if not re.match(r"(.*/)?src/[\w/]+\.[ch]$", file["file"]):
                    continue
                lines = found.setdefault(file["file"].rpartition("src/")[2], {})
                for line in file["lines"]:
                    here = lines.setdefault(line["line_number"], [0, 0, 0, ""])
                    taken = sum(branch["count"] > 0 for branch in line["branches"])
                    here[0] += line["count"]
                    here[1:3] = max(here[1], taken), max(here[2], len(line["branches"]))
                    here[3] = line.get("function_name") or here[3]
    return found


def print_missed(name, counted, text, what):
    for number, (ran, taken, branches, _) in sorted(counted.items()):
        if "--list" in what and ran == 0:
            print(f"src/{name}:{number}: {text[number - 1].strip()}")
        elif "--branches" in what and ran > 0 and taken < branches:
            print(f"src/{name}:{number}: {taken} of {branches}: {text[number - 1].strip()}")


def reasons():
    """[file pattern, function pattern or (branches), why]"""
    rows = [line.rstrip("\n").split("\t") for line in open(REASONS)][1:]
    bad = [row for row in rows if len(row) != 3 or not all(row)]
    if bad:
        sys.exit(f"{REASONS}: three columns are needed: {bad[0]}")
    return rows


def missed_parts(name, counted):
    """(file, function or (branches)) of what did not run."""
    parts = {(name, function) for ran, _, _, function in counted.values() if ran == 0}
    if any(ran > 0 and taken < branches for ran, taken, branches, _ in counted.values()):
        parts.add((name, "(branches)"))
    return parts


def without_reason(missed):
    """What has no row; prints it, and the rows that say too much."""
    rows, used, unexplained = reasons(), set(), []
    for name, function in sorted(missed):
        fits = [i for i, row in enumerate(rows)
                if fnmatch.fnmatchcase(name, row[0]) and fnmatch.fnmatchcase(function, row[1])
                and (function == "(branches)") == (row[1] == "(branches)")]
        used.update(fits)
        if not fits:
            unexplained.append(f"src/{name}: {function}")
    for text in unexplained:
        print(f"no reason in tests/not-covered.tsv: {text}", file=sys.stderr)
    for i, row in enumerate(rows):
        if i not in used:
            print(f"tests/not-covered.tsv: ran, or is gone: src/{row[0]}: {row[1]}", file=sys.stderr)
    return unexplained


def print_figures(totals, unexplained):
    ran, lines, taken, branches, excepted = totals
    for name, part, whole, target in (("lines", ran, lines, LINES), ("branches", taken, branches, BRANCHES)):
        percent = 100 * part / whole
        print(f"{name} of mock-acl that its tests run\t{percent:.1f}\t%\t>= {target:g}\t"
              f"{'met' if percent >= target else 'missed'}")
    print(f"lines of mock-acl left out of that\t{100 * excepted / (lines + excepted):.2f}\t%\t< {EXCEPTED:.0f}\t"
          f"{'met' if 100 * excepted < EXCEPTED * (lines + excepted) else 'missed'}")
    print(f"parts of mock-acl that no test runs for no reason\t{len(unexplained)}\t\t0\t"
          f"{'missed' if unexplained else 'met'}")


def main():
    found, rows, missed = measured(sys.argv[1]), [], set()
    for name, lines in sorted(found.items()):
        text = open(os.path.join(HERE, "src", name)).read().split("\n")
        counted = {n: v for n, v in lines.items() if n <= len(text) and "unreached:" not in text[n - 1]}
        ran = sum(v[0] > 0 for v in counted.values())
        rows.append((name, ran, len(counted), sum(v[1] for v in counted.values()), sum(v[2] for v in counted.values()),
                     len(lines) - len(counted)))
        print_missed(name, counted, text, sys.argv)
        missed |= missed_parts(name, counted)
    totals = [sum(row[i] for row in rows) for i in range(1, 6)]
    if "--figures" in sys.argv:
        return print_figures(totals, without_reason(missed))
    print(f"{'file':24} {'lines':>7} {'ran':>7} {'branches':>9} {'taken':>7} {'excepted':>9}")
    for name, ran, lines, taken, branches, excepted in [*rows, ("all", *totals)]:
        percent = [f"{100 * a / b:.1f}%" if b else "-" for a, b in ((ran, lines), (taken, branches))]
        print(f"{name:24} {lines:7} {percent[0]:>7} {branches:9} {percent[1]:>7} {excepted:9}")
    explained = not without_reason(missed)
    good = 100 * totals[0] >= LINES * totals[1] and 100 * totals[2] >= BRANCHES * totals[3]
    print(f"targets: {LINES:g}% of lines, {BRANCHES:g}% of branches: {'met' if good else 'missed'}")
    sys.exit(0 if (good and explained) or "--report" in sys.argv else 1)


if __name__ == "__main__":
    main()
