"""Which simulated operators the rules do not call: src/exports.def says which are simulated."""
import os
import re

EXPORTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/exports.def")


def simulated():
    with open(EXPORTS, encoding="utf-8") as file:
        return set(re.findall(r"^OP\((aclnn\w+)GetWorkspaceSize, SIM\)", file.read(), re.MULTILINE))


def without_rule(called):
    """By name, sorted; `called` are the operators whose calls succeeded at least once."""
    return sorted(simulated() - set(called))
