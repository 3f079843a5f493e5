"""expected.tsv: a line a check, with its result and, where it is not ok, the operator or the reason."""

import collections
import os

from runner.place import HERE

PATH = os.path.join(HERE, "expected.tsv")
HEAD = "name\tresult\treason\n"


def read():
    with open(PATH) as file:
        lines = [line.rstrip("\n").split("\t") for line in file.readlines()[1:]]
    return {name: (result, reason) for name, result, reason in lines}


def write(results):
    lines = ["\t".join([name, *results[name]]) + "\n" for name in sorted(results)]
    with open(PATH, "w") as file:
        file.write(HEAD + "".join(lines))


def differences(results, expected):
    """Lines about what is not as the table says."""
    for name, (result, reason) in sorted(results.items()):
        want = expected.get(name)
        if result == "refused":
            continue  # by torch_npu: no graphs with TASK_QUEUE_ENABLE=2
        if want is None:
            yield f"{name}: not in the table; {result} {reason}"
        elif result != want[0] or (result == "not-computed" and reason != want[1]):
            yield f"{name}: {result} {reason}; the table says {want[0]} {want[1]}"


def counts(results):
    found = collections.Counter(result for result, _ in results.values())
    return ", ".join(f"{number} {result}" for result, number in found.most_common())
