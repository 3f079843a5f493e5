"""expected.tsv: a line a check, with its result and, where it is not ok, the operator or the reason.

others.tsv: where another version than the usual one gives something else, and why. `-` is a check that it has not.
"""

import collections
import os

from runner.place import HERE, USUAL

PATH = os.path.join(HERE, "expected.tsv")
OTHERS = os.path.join(HERE, "others.tsv")
HEAD = "name\tresult\treason\n"
OTHERS_HEAD = "version\tname\tresult\treason\tbecause\n"


def lines_of(path):
    with open(path) as file:
        return [line.rstrip("\n").split("\t") for line in file.readlines()[1:]]


def read(version):
    expected = {name: (result, reason) for name, result, reason in lines_of(PATH)}
    for of, name, result, reason, _ in lines_of(OTHERS):
        if of == version:
            expected[name] = (result, reason)
    return expected


def write(results, version):
    if version != USUAL:
        return write_others(results, version)
    lines = ["\t".join([name, *results[name]]) + "\n" for name in sorted(results)]
    with open(PATH, "w") as file:
        file.write(HEAD + "".join(lines))


def write_others(results, version):
    """The reasons that were written by hand stay."""
    usual, old = read(USUAL), lines_of(OTHERS)
    because = {tuple(line[:2]): line[4] for line in old}
    lines = [line for line in old if line[0] != version]
    for name in sorted(results):
        if results[name] != usual.get(name):
            lines.append([version, name, *results[name], because.get((version, name), "?")])
    with open(OTHERS, "w") as file:
        file.write(OTHERS_HEAD + "".join("\t".join(line) + "\n" for line in lines))


def same_reason(reason, want):
    """A queue may tell the operator alone."""
    return reason == want or reason == want.partition(":")[0]


def differences(results, expected):
    """Lines about what is not as the table says."""
    for name, (result, reason) in sorted(results.items()):
        want = expected.get(name)
        if result == "refused":
            continue  # by torch_npu: no graphs with TASK_QUEUE_ENABLE=2
        if want is None:
            yield f"{name}: not in the table; {result} {reason}"
        elif result != want[0] or (result == "not-computed" and not same_reason(reason, want[1])):
            yield f"{name}: {result} {reason}; the table says {want[0]} {want[1]}"


def counts(results):
    found = collections.Counter(result for result, _ in results.values())
    return ", ".join(f"{number} {result}" for result, number in found.most_common())
