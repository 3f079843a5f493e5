#!/usr/bin/env python3
"""Compares tests/conformance/rules-*.tsv, a row for each rule of the runtime, with the checks of the suite.

rules.py [--unnamed] < `make conformance CONFORMANCE_FLAGS=--list` of one program

A table has a line of titles and then rows: rule, what, source, checks, why not. `checks` are names of checks, with
their group or without it where the name is unique, and commas between them: each would fail if the rule were broken.
A rule that public functions cannot show has `-` there and the reason in `why not`. --unnamed lists the checks that
belong to no rule.
"""
import collections
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TITLES = ["rule", "what", "source", "checks", "why not"]
WHAT_LENGTH = 110


class Suite:
    """The checks, by group.name and by name alone."""

    def __init__(self, lines):
        cells = [line.rstrip("\n").split("\t") for line in lines]
        self.whole = {f"{c[0]}.{c[1]}" for c in cells if len(c) == 4}
        self.short = collections.defaultdict(list)
        for whole in self.whole:
            self.short[whole.split(".")[1]].append(whole)

    def find(self, name):
        """(group.name, None) or (None, what is wrong)"""
        if name in self.whole:
            return name, None
        found = self.short.get(name, [])
        if len(found) == 1:
            return found[0], None
        return None, f"several checks are named {name}" if found else f"no check is named {name}"


def check_row(cells, suite, used):
    """What is wrong with a row of five cells."""
    rule, what, source, checks, why = cells
    if not re.fullmatch(r"[\w.-]+", rule):
        yield f"not an id: {rule!r}"
    if not what or len(what) > WHAT_LENGTH:
        yield f"`what` needs 1 to {WHAT_LENGTH} characters, and has {len(what)}"
    if not source:
        yield "no source"
    if checks in ("", "-"):
        if not why:
            yield "neither a check nor a reason"
        return
    if why:
        yield "both checks and a reason for none"
    names = [name.strip() for name in checks.split(",")]
    if len(set(names)) < len(names):
        yield "a check is named twice"
    for name in names:
        whole, wrong = suite.find(name)
        if wrong:
            yield wrong
        else:
            used[whole] += 1


def check_table(path, suite, seen, used):
    """(rows, reasons of those without a check, errors)"""
    name, reasons, errors = os.path.basename(path), [], []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if not lines or lines[0].split("\t") != TITLES:
        errors.append(f"{name}:1: the titles are not {', '.join(TITLES)}")
    for number, line in enumerate(lines[1:], 2):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) not in (4, 5):
            errors.append(f"{name}:{number}: {len(cells)} cells, not 4 or 5")
            continue
        cells += [""] * (5 - len(cells))
        wrong = list(check_row(cells, suite, used))
        if cells[0] in seen:
            wrong.append(f"also in {seen[cells[0]]}")
        seen[cells[0]] = f"{name}:{number}"
        errors += [f"{name}:{number}: {cells[0]}: {text}" for text in wrong]
        if cells[3] in ("", "-"):
            reasons.append((cells[0], cells[4]))
    return len(lines) - 1, reasons, errors


def main():
    suite, seen, used = Suite(sys.stdin), {}, collections.Counter()
    tables = sorted(glob.glob(os.path.join(HERE, "tests/conformance/rules-*.tsv")))
    total, errors, reasons = 0, [], []
    for path in tables:
        count, without, wrong = check_table(path, suite, seen, used)
        print(f"{os.path.basename(path)}: {count} rules, {count - len(without)} with checks, {len(without)} without")
        total, reasons, errors = total + count, reasons + without, errors + wrong
    if not suite.whole or total == 0:
        errors.append(f"{len(suite.whole)} checks and {total} rules: nothing was compared")
    for rule, why in reasons:
        print(f"    {rule}: {why}")
    unnamed = sorted(suite.whole - set(used))
    print(f"{total} rules; {len(used)} of {len(suite.whole)} checks are named by a rule")
    if "--unnamed" in sys.argv[1:]:
        print("\n".join(unnamed))
    if errors:
        sys.exit("\n".join(errors))


if __name__ == "__main__":
    main()
