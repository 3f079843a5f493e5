#!/usr/bin/env python3
"""How much of the interface the mock simulates.

coverage.py [--report]

Counts the functions that the headers declare by their state in src/exports.def: simulated, accepted without effect, not
supported. Names the functions that three or more groups of existing programs use (abi/usage.tsv) and that are not
simulated. Fails when a target is missed, unless --report is given:

- every function of acl/ and aclnn/ that three or more groups use is simulated, those of WITHOUT apart; operators
  (aclnnop/) are named as well, but have no target here;
- 95 % of the other functions of acl/acl_rt.h are simulated or accepted.
"""
import collections
import csv
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNTIME = "acl/acl_rt.h"
OPERATORS = "aclnnop/"
MANY = 3
REST = 95
STATES = ("simulated", "accepted", "not supported")
# Functions that the first target leaves out, with the reason that is printed.
WITHOUT = [(r"aclop", "operators by name, which compile or load files of the vendor's compiler")]


def states():
    text = open(os.path.join(HERE, "src/exports.def")).read()
    words = {"SIM": STATES[0], "ACCEPT": STATES[1]}
    return {name: words.get(word, STATES[2]) for name, word in re.findall(r"^[A-Z]+\((\w+), (\w+)\)$", text, re.M)}


def declared(names):
    """Header by function; of two that declare a name, the first."""
    where = {}
    include = os.path.join(HERE, "include")
    for path in sorted(glob.glob(include + "/**/*.h", recursive=True)):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(path).read(), flags=re.S)
        for name in re.findall(r"\b(\w+)\(", text):
            if name in names:
                where.setdefault(name, os.path.relpath(path, include))
    return where


def usage():
    with open(os.path.join(HERE, "abi/usage.tsv"), newline="") as f:
        rows = csv.reader((line for line in f if not line.startswith("#")), delimiter="\t")
        next(rows)
        return {name: int(groups) for name, groups in rows}


def percent(part, whole):
    return 100.0 if whole == 0 else 100.0 * part / whole


def is_operator(header):
    return header.startswith(OPERATORS)


def group(header):
    return OPERATORS if is_operator(header) else header


def print_headers(state, where):
    counts = collections.defaultdict(collections.Counter)
    for name, header in where.items():
        counts[group(header)][state[name]] += 1
    print(f"{'header':32}" + "".join(f"{word:>15}" for word in STATES))
    for header, count in sorted(counts.items()):
        print(f"{header:32}" + "".join(f"{count[word]:15}" for word in STATES))
    total = collections.Counter(state[name] for name in where)
    print(f"{'all':32}" + "".join(f"{total[word]:15}" for word in STATES))


def print_used(state, where, used):
    """The functions of the first target that miss it."""
    many = sorted((name for name, groups in used.items() if groups >= MANY), key=lambda n: (-used[n], n))
    reason = {name: why for name in many for pattern, why in WITHOUT if re.match(pattern, name)}
    reason.update({name: "other libraries, which the mock is not" for name in many if name not in state})
    ours = [name for name in many if name not in reason]
    lacking = [name for name in ours if state[name] != STATES[0]]
    operators = [name for name in lacking if is_operator(where[name])]
    missed = [name for name in lacking if name not in operators]
    print(f"\nused by {MANY} or more of 21 groups of programs and not simulated:")
    for name in missed:
        print(f"{used[name]:4} {name} ({state[name]})")
    for why, number in collections.Counter(why for name, why in reason.items() if name not in state or
                                           state[name] != STATES[0]).items():
        print(f"left out, {number}: {why}")
    targeted = [name for name in ours if not is_operator(where[name])]
    done = len(targeted) - len(missed)
    share = percent(done, len(targeted))
    print(f"{share:.1f} % of {len(targeted)} functions of acl/ and aclnn/ are simulated; target 100")
    known = len(ours) - len(targeted)
    print(f"{percent(known - len(operators), known):.1f} % of {known} functions of operators are simulated; not:")
    for name in operators:
        print(f"{used[name]:4} {name}")
    return missed


def print_rest(state, where, used):
    runtime = [name for name, header in where.items() if header == RUNTIME]
    rest = [name for name in runtime if used.get(name, 0) < MANY]
    known = percent(sum(state[n] != STATES[2] for n in runtime), len(runtime))
    share = percent(sum(state[n] != STATES[2] for n in rest), len(rest))
    print(f"\n{RUNTIME}: {known:.1f} % of {len(runtime)} functions are simulated or accepted,")
    print(f"{share:.1f} % of the {len(rest)} that fewer than {MANY} groups use; target {REST}")
    return share >= REST


def main():
    if sys.argv[1:] not in ([], ["--report"]):
        sys.exit(__doc__)
    state, used = states(), usage()
    where = declared(state)
    print_headers(state, where)
    missed = print_used(state, where, used)
    reached = print_rest(state, where, used)
    if (missed or not reached) and not sys.argv[1:]:
        sys.exit("a target is missed")


if __name__ == "__main__":
    main()
